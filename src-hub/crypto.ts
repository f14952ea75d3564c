import * as nodeCrypto from 'node:crypto'
import { wireCrypto } from '@shared/wire/index.ts'

export const crypto = wireCrypto(nodeCrypto)
