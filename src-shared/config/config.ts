import { z } from 'zod'
import { aidSchema } from '../wire/cid.ts'
import { durationPattern } from './duration.ts'

const peerEntry = z.strictObject({ aid: aidSchema, label: z.string().max(128).optional() })
/** A Go duration: "2m", "1h30m", "0". Parsed by parseDuration. */
const duration = z.string().regex(durationPattern, 'not a duration such as "2m", "1h30m" or "0"')

export const backendSchema = z
  .strictObject({
    match: z.string().min(1).max(256),
    url: z.string().min(1).max(2048),
    token_file: z.string().max(4096).optional(),
    accept_untrusted: z.boolean().default(false),
    toolless: z.boolean().default(false),
    allow_tcp: z.boolean().default(false),
    expected_user: z.string().max(64).optional(),
    socket_group: z.string().max(64).optional(),
    peer_check: z.literal('path-only').optional(),
  })
  .superRefine((backend, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message, path: ['url'] })
    if (/^unix:\/\/\/[^\0]+$/.test(backend.url)) return
    if (!/^https?:\/\/[^/]/.test(backend.url)) refuse('must be unix:///absolute/path/to/socket, http:// or https://')
    else if (!backend.allow_tcp) refuse('an http or https backend needs allow_tcp: true')
  })
  .refine((backend) => !backend.accept_untrusted || backend.toolless, {
    error: 'accept_untrusted needs toolless: true',
    path: ['accept_untrusted'],
  })
export type BackendConfig = z.infer<typeof backendSchema>

/** config.json: the operator's settings (spec/architecture.md, Data directory). Every key has a default. */
export const configSchema = z
  .strictObject({
    /** How this agent introduces itself on its network card. */
    agent: z
      .strictObject({ name: z.string().min(1).max(128).optional(), description: z.string().max(4096).optional() })
      .prefault({}),
    hub: z.strictObject({ url: z.url(), aid: aidSchema }).optional(),
    inbound: z.strictObject({ policy: z.enum(['closed', 'approve', 'open']).default('closed') }).prefault({}),
    peers: z
      .strictObject({
        trust: z.array(peerEntry).max(10_000).default([]),
        allow: z.array(peerEntry).max(10_000).default([]),
        deny: z.array(peerEntry).max(10_000).default([]),
      })
      .prefault({}),
    skills: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(128),
          name: z.string().min(1).max(128),
          description: z.string().max(4096).default(''),
          tags: z.array(z.string().max(64)).max(64).default([]),
          examples: z.array(z.string().max(1024)).max(16).default([]),
          backend: z.string().max(256).optional(),
          public: z.boolean().default(true),
        }),
      )
      .max(256)
      .default([]),
    modules: z
      .strictObject({
        a2a: z
          .strictObject({
            enabled: z.boolean().default(true),
            backends: z.array(backendSchema).max(256).default([]),
            retry: z
              .strictObject({ max_interval: duration.default('2m'), give_up_after: duration.default('10m') })
              .prefault({}),
          })
          .prefault({}),
      })
      .prefault({}),
    no_response_after: duration.default('15m'),
    log: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
  })
  .superRefine((config, context) => {
    const seen = new Set<string>()
    for (const [index, backend] of config.modules.a2a.backends.entries()) {
      const path = ['modules', 'a2a', 'backends', index]
      if (seen.has(backend.match))
        context.addIssue({
          code: 'custom',
          message: `a second backend matches "${backend.match}"`,
          path: [...path, 'match'],
        })
      seen.add(backend.match)
      if (backend.accept_untrusted && config.inbound.policy === 'open') {
        context.addIssue({
          code: 'custom',
          message: 'accept_untrusted is refused with the inbound policy open',
          path: [...path, 'accept_untrusted'],
        })
      }
    }
  })
export type Config = z.infer<typeof configSchema>
