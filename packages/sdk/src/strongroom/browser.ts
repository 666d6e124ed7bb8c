export { indexedDbTrust } from '../engine/trust-indexeddb.ts'
export { ApiError, TransportError } from '../errors.ts'
export { BrowserStrongroom as Strongroom } from './strongroom-browser.ts'
export * from './surface.ts'
