import { version as packageVersion } from '../../package.json' with { type: 'json' }

/** Version of this program, of its node and its command line alike. */
export const version: string = packageVersion
