import { agents, send } from './agents.ts'
import { common } from './common.ts'
import { crash } from './crash.ts'
import { inbox } from './inbox.ts'
import { overview } from './overview.ts'
import { settings } from './settings.ts'
import { setup } from './setup.ts'
import { tasks } from './tasks.ts'

/** Every English sentence of the window. Another language is another object of this shape. */
export const strings = { agents, common, crash, inbox, overview, send, settings, setup, tasks } as const
