export { indexedDbCache } from '../engine/cache-indexeddb.ts'
export { indexedDbTrust } from '../engine/trust-indexeddb.ts'
export * from '../index.ts'
export { BrowserStrongroom as Strongroom } from './strongroom-browser.ts'
