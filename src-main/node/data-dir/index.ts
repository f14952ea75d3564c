export { dataDirectory, privateDirectory } from './directory.ts'
export { type DataDirLock, lockDataDir, lockHolder, type LockHolder, type NodeKind } from './lock.ts'
export {
  createPrivateFile,
  readPrivateFile,
  type ReadOptions,
  removePrivateFile,
  syncDirectory,
  writePrivateFile,
} from './private-file.ts'
export { fileError } from './file-error.ts'
