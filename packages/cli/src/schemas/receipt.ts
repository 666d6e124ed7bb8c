import { Type } from 'typebox'

export const receiptShape = Type.Object({
  vaultId: Type.String(),
  headVersion: Type.Integer(),
  headHash: Type.String(),
  signerKeyId: Type.String(),
  checkpoint: Type.Object({
    origin: Type.String(),
    treeSize: Type.Integer(),
    rootHash: Type.String(),
    timestamp: Type.String(),
  }),
  inclusion: Type.String(),
  consistency: Type.String(),
  witnessedAt: Type.Union([Type.String(), Type.Null()]),
  source: Type.String(),
  fetchedAt: Type.String(),
})
