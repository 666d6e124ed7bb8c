import { indexedDbTrust } from '../engine/trust-indexeddb.ts'
import type { Platform } from './options.ts'

/** A browser, or a worker of one: the trust store is in IndexedDB, shared by every tab of the origin. */
export const browserPlatform: Platform = {
  isBrowser: true,
  env: () => ({}),
  trustStore: () => indexedDbTrust(),
}
