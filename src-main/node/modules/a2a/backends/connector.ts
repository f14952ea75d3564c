import type { BackendConfig } from '@shared/config/index.ts'
import { systemAccounts } from './accounts.ts'
import { peerUidOf } from './peer-credentials.ts'
import { createTcpConnector } from './tcp-connector.ts'
import type { Connector, ConnectorSurroundings } from './types.ts'
import { createUnixConnector } from './unix-connector.ts'

export function systemSurroundings(): ConnectorSurroundings {
  return { nodeUid: process.getuid?.() ?? -1, accounts: systemAccounts, peerUid: peerUidOf }
}

/** The URL was checked by the config's schema: unix:///path, or http(s) with allow_tcp. */
export function createConnector(backend: BackendConfig, surroundings: ConnectorSurroundings): Connector {
  return backend.url.startsWith('unix://')
    ? createUnixConnector(backend, surroundings)
    : createTcpConnector(backend, surroundings)
}
