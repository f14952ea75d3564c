import * as nodeCrypto from 'node:crypto'
import { type WireCrypto, wireCrypto } from '@shared/wire/index.ts'

/** The wire formats' cryptography over `node:crypto`, one for the whole process so that parsed keys are shared. */
export const crypto: WireCrypto = wireCrypto(nodeCrypto)
