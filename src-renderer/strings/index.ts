import { common } from './common.ts'
import { overview } from './overview.ts'
import { setup } from './setup.ts'

/** Every English sentence of the window. Another language is another object of this shape. */
export const strings = { common, overview, setup } as const
