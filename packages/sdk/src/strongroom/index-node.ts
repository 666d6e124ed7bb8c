export { fileCache, fileTrust } from '../engine/trust-file.ts'
export * from '../index.ts'
export { NodeStrongroom as Strongroom } from './strongroom-node.ts'
