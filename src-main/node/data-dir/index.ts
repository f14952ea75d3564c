export { dataDirectory, privateDirectory } from './directory.ts'
export { type DataDirLock, lockDataDir, lockHolder } from './lock.ts'
export {
  checkPrivateFile,
  createPrivateFile,
  readPrivateFile,
  removePrivateFile,
  syncDirectory,
  writePrivateFile,
} from './private-file.ts'
export { fileError } from './file-error.ts'
export { identifyProcess, type ProcessIdentity, stillRuns } from './process-identity.ts'
