import { base64url } from 'multiformats/bases/base64'
import { AnetError } from '../errors.ts'

/** Unpadded base64url (RFC 4648, section 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return base64url.baseEncode(bytes)
}

/** Undoes {@link encodeBase64Url}; other characters or an encoding over `maxBytes` are `bad_base64url`. */
export function decodeBase64Url(text: string, maxBytes: number): Uint8Array {
  if (text.length > Math.ceil((maxBytes * 4) / 3))
    throw new AnetError('bad_base64url', `This text is over the limit of ${maxBytes} bytes.`)
  // the library takes padding, which would give one value two forms
  if (text.includes('=')) throw new AnetError('bad_base64url', 'This text is not unpadded base64url.')
  try {
    return base64url.baseDecode(text)
  } catch (cause) {
    throw new AnetError('bad_base64url', 'This text is not base64url.', { cause })
  }
}
