import { type HubStore, openSqliteStore } from '../../../src-hub/store/index.ts'
import { hubStoreSuite } from '../../helpers/hub-store-suite.ts'
import { temporaryDirectory } from '../../helpers/temporary-hub.ts'

hubStoreSuite('SQLite', async () => {
  const dataDir = await temporaryDirectory()
  const open = () => openSqliteStore({ dataDir, fault: () => {} })
  let store: HubStore = await open()
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
  }
})
