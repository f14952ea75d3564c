import { encodeCbor } from '@shared/wire/index.ts'
import { bytesHead, type RawCbor, rawMap, rawValue } from '../raw-cbor.ts'

/** A delivery without its envelope: the bytes of the envelope, `size` of them, come last. */
export function deliveryHead(id: number, size: number): RawCbor {
  return rawMap(['id', rawValue(String(id))], ['envelope', [bytesHead(size)]])
}

/** A `deliver` frame up to the bytes of the envelope. */
export function deliverHead(id: number, size: number): RawCbor {
  return rawMap(['type', rawValue('deliver')], ['delivery', deliveryHead(id, size)])
}

export function ephemeralFrame(envelope: Uint8Array): RawCbor {
  return rawMap(['type', rawValue('ephemeral')], ['envelope', [bytesHead(envelope.byteLength), envelope]])
}

export const supersededFrame = encodeCbor({ type: 'superseded' })

/** Ids on the wire are decimal; others than the hub's own name nothing. */
export function mailIds(ids: readonly string[]): readonly number[] {
  return ids.filter((id) => /^[1-9][0-9]{0,14}$/.test(id)).map(Number)
}
