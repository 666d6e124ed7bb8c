import type { Deps } from '../context.ts'
import type { ObjectStorage } from './object-storage.ts'
import { diskStorage } from './object-storage-disk.ts'
import { s3Storage } from './object-storage-s3.ts'

/** Storages keep nothing in memory, so each use may make its own. */
export const objectStorage = (deps: Pick<Deps, 'config' | 'rootKey' | 'now'>): ObjectStorage =>
  deps.config.s3 ? s3Storage(deps.config.s3, deps.now) : diskStorage(deps)
