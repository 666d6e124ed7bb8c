export { fileCache, fileTrust } from '../engine/trust-file.ts'
export { ApiError, TransportError } from '../errors.ts'
export { NodeStrongroom as Strongroom } from './strongroom-node.ts'
export * from './surface.ts'
