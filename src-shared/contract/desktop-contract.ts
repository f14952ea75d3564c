import { z } from 'zod'
import { command, type ClientOf, type HandlersOf, query } from './contract.ts'

const nothing = z.strictObject({})
const errorViewSchema = z.object({
  code: z.string(),
  message: z.string(),
  remedy: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})

export const secretStoreKinds = ['keychain', 'passphrase', 'file'] as const
export const themes = ['system', 'light', 'dark'] as const

/** The shell's own state, replaced whole. What the node says is in the node's slices. */
export const shellView = z.object({
  /**
   * `setup`: no identity yet. `unlock`: a passphrase is needed. `running`: the node answers. `failed`: it does not, and
   * `error` says why. `stopped`: it was told to stop.
   */
  phase: z.enum(['setup', 'unlock', 'starting', 'running', 'failed', 'stopped']),
  error: errorViewSchema.nullable(),
  version: z.string(),
  dataDir: z.string(),
  /** True if a headless node runs on this data directory and the window looks through its control plane. */
  attached: z.boolean(),
  theme: z.enum(themes),
  demo: z.object({
    state: z.enum(['absent', 'starting', 'running', 'failed']),
    dataDir: z.string(),
    error: errorViewSchema.nullable(),
  }),
})
export type ShellView = z.infer<typeof shellView>

/** Where the operator is taken: by the tray, a notification or a second launch. */
export const destinationSchema = z.discriminatedUnion('view', [
  z.object({ view: z.literal('overview') }),
  z.object({ view: z.literal('agents'), aid: z.string().nullable() }),
  z.object({ view: z.literal('tasks'), id: z.string().nullable(), requester: z.string().nullable() }),
  z.object({ view: z.literal('inbox'), id: z.number().nullable() }),
  z.object({ view: z.literal('settings') }),
])
export type Destination = z.infer<typeof destinationSchema>

/** What the window may ask of the shell around the node: dialogs, clipboard, set-up. Only over Electron IPC. */
export const desktopContract = {
  shell: {
    state: query(nothing, shellView),
    setTheme: command(z.strictObject({ theme: z.enum(themes) }), shellView),
    copyText: command(
      z.strictObject({ text: z.string().min(1).max(1_000_000) }),
      z.object({ copied: z.literal(true) }),
    ),
    /** An open dialog; the paths go into `tasks.send` or `inbox.answer`. Empty if it was closed. */
    chooseFiles: command(nothing, z.object({ paths: z.array(z.string()) })),
    /** A save dialog, then `tasks.saveFile`. Null if it was closed. */
    saveFile: command(
      z.strictObject({
        id: z.string().max(256),
        requester: z.string().max(128),
        seq: z.int().min(0),
        part: z.int().min(0),
        suggestedName: z.string().max(255),
      }),
      z.object({ path: z.string().nullable(), bytes: z.number() }),
    ),
    /** Shows a file that `saveFile` wrote in the file manager; other paths are refused. */
    showSavedFile: command(z.strictObject({ path: z.string().max(4096) }), z.object({ shown: z.boolean() })),
    openDataFolder: command(nothing, z.object({ opened: z.boolean() })),
    retryStart: command(nothing, shellView),
    quit: command(nothing, z.object({ quitting: z.boolean() })),
  },
  setup: {
    /** Tests which secret stores work here, the keychain by a round trip. */
    secretStores: query(
      nothing,
      z.object({
        stores: z.array(z.object({ kind: z.enum(secretStoreKinds), available: z.boolean(), detail: z.string() })),
      }),
    ),
    /** Makes the recovery phrase. Nothing is on disk until `confirm`. */
    begin: command(
      z.strictObject({ secretStore: z.enum(secretStoreKinds), passphrase: z.string().min(1).max(1024).optional() }),
      z.object({ phrase: z.array(z.string()).length(24), ask: z.array(z.int().min(1).max(24)).length(3) }),
    ),
    /** A save dialog for the recovery sheet (phrase, data folder, what it is for). Null if it was closed. */
    saveSheet: command(nothing, z.object({ path: z.string().nullable() })),
    /** The three words asked for, in order. Wrong words are `phrase_not_confirmed` and change nothing. */
    confirm: command(z.strictObject({ words: z.array(z.string().max(32)).length(3) }), shellView),
    startDemo: command(nothing, shellView),
    removeDemo: command(nothing, shellView),
  },
  unlock: {
    passphrase: command(z.strictObject({ passphrase: z.string().min(1).max(1024) }), shellView),
  },
} as const
export type DesktopContract = typeof desktopContract
export type DesktopClient = ClientOf<DesktopContract>
export type DesktopHandlers = HandlersOf<DesktopContract>

export const shellEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('shell'), revision: z.number(), value: shellView }),
  z.object({ type: z.literal('go'), destination: destinationSchema }),
])
export type ShellEvent = z.infer<typeof shellEventSchema>
