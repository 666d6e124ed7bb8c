// The public doors of the protocol. Primitives, derivations and raw keys are not exported: what is here cannot be used in
// the wrong order.

export { checkStorageUrl } from './attachments/address.ts'
export {
  type AssetContent,
  type AssetRow,
  assetContent,
  assetRowOf,
  makeAssetCheckpoint,
  openAssetName,
  renameAsset,
  rewrapAsset,
  type VerifiedAsset,
  verifyAsset,
} from './attachments/checkpoint.ts'
export type { AssetMeta, AssetPlace } from './attachments/content-key.ts'
export { ciphertextSizeOf, plaintextSizeWithin } from './attachments/floe.ts'
export {
  type AttachmentDraft,
  decryptAttachment,
  draftAttachment,
  encryptAttachment,
  encryptDraft,
  partsOf,
  rewrapDraft,
} from './attachments/transfer.ts'
export {
  type Cap,
  capsSet,
  defaultPolicy,
  invite,
  keyAdd,
  keyRecover,
  keyRevoke,
  keyRotate,
  type LogRecoverPayload,
  logRecover,
  orgGenesis,
  type Policy,
  policySet,
  recoveryEnrol,
} from './directory/documents.ts'
export { acceptInvite, endorseAcceptance, makeInvite, parseInviteLink, verifyAcceptance } from './directory/invite.ts'
export { type DirectoryResponse, type VerifiedDirectory, verifyDirectory } from './directory/resolve.ts'
export { fromBase64, toBase64url } from './encoding/base64.ts'
export { canonical, canonicalText, type Json, type JsonObject, parseStrict } from './encoding/canonical.ts'
export { PROTOCOL_ERRORS } from './error-codes.ts'
export { ProtocolError, type ProtocolErrorCode } from './errors.ts'
export {
  addSignatures,
  claimedKind,
  documentHash,
  draftDocument,
  type Envelope,
  envelopeShape,
  makeDocument,
  peekDocument,
  type VerifiedDocument,
  verifyDocument,
} from './identity/document.ts'
export { KEY_ID_PATTERN, type Kid, makeId, type Principal, parseKid, principalOf } from './identity/identifiers.ts'
export { type CheckedKey, checkKey, deriveKeyId, type KeyBundle } from './identity/key-bundle.ts'
export { type KeyMemory, keyMemory } from './identity/key-memory.ts'
export {
  decodePem,
  encodePem,
  type Identity,
  makeKeys,
  openKeys,
  type PrivateKeyMaterial,
  type Recipient,
  type Signer,
} from './identity/private-keys.ts'
export { cosign, makeCheckpoint, peekCheckpoint, type VerifiedCheckpoint, verifyCheckpoint } from './log/checkpoint.ts'
export { documentsOf, parseLeaf, updatesOf } from './log/leaf.ts'
export { encodeMapProof, mapValue, verifyMapProof } from './log/map.ts'
export { makeMap, openPartialMap, type StateMap } from './log/map-tree.ts'
export { decodeProof, encodeProof, leafHash, verifyConsistency, verifyInclusion } from './log/merkle.ts'
export {
  appendLeaf,
  EMPTY_FRONTIER,
  type Frontier,
  frontierRoot,
  nodesForConsistency,
  nodesForInclusion,
  proveConsistencyFrom,
  proveInclusionFrom,
} from './log/merkle-proofs.ts'
export {
  addNoteSignatures,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSigner,
  parseVkey,
} from './log/note.ts'
export {
  grantName,
  type KidState,
  kidName,
  POLICY_NAME,
  type PolicyState,
  projectName,
  type VaultState,
  vaultName,
} from './log/state.ts'
export {
  type LogPin,
  type Transparency,
  type VerifiedView,
  verifyTransparency,
  verifyUnchanged,
} from './log/transparency.ts'
export { NO_WITNESSES, parseWitnessPolicy } from './log/witness-policy.ts'
export {
  endorseKey,
  type Rotation,
  registerKey,
  requestEndorsement,
  rotateKey,
  verifyPendingKey,
} from './runtime/runtime-key.ts'
export type { LiveGrant, LogState, StateUpdate } from './transition/draft.ts'
export { auditLeaf, type Ledger, leafOf, makeLedger } from './transition/ledger.ts'
export { type LeafType, type Transition, transition } from './transition/transition.ts'
export { formatTrustAnchor, parseTrustAnchor, type TrustAnchor } from './trust/anchor.ts'
export { checkEvidence, type Evidence, type EvidenceVerdict } from './trust/check-evidence.ts'
export { makeEvidence } from './trust/evidence.ts'
export { adoptRecovery, type VerifiedRecovery, verifyRecovery } from './trust/recovery.ts'
export { type Notice, type Remembered, remember } from './trust/remember.ts'
export {
  EMPTY_TRUST_STORE,
  logPinOf,
  type OrgTrust,
  orgTrustOf,
  parseTrustStore,
  pinAnchor,
  recordAlarm,
  serialiseTrustStore,
  type TrustStore,
} from './trust/store.ts'
export {
  type DeviceSecret,
  formatDeviceSecret,
  formatRecoveryCode,
  makeDeviceSecret,
  makeRecoveryCode,
  parseDeviceSecret,
  parseRecoveryCode,
  type RecoveryCode,
} from './user/codes.ts'
export { checkKdf, type KdfParameters, makeKdf } from './user/kdf-floor.ts'
export { deriveUnlockKey, exportPrivateBundle, resealPrivateBundle, sealPrivateBundle } from './user/private-bundle.ts'
export { deriveRecoveryCodeKey } from './user/recovery.ts'
export type { Dek } from './values/dek.ts'
export { envelopeHash, type FieldValue, MAX_VALUE_BYTES, textValue, valueText } from './values/field.ts'
export {
  environmentAnswerShape,
  type OpenedEnvironment,
  openEnvironment,
  type ReaderTrust,
  type VaultAnswer,
  vaultAnswerShape,
  verifyVaultAnswer,
} from './vault/answer.ts'
export { deriveProjectId, deriveVaultId } from './vault/authority.ts'
export { type CheckedCommit, type CommitBefore, checkCommit } from './vault/check-commit.ts'
export { type BuiltCommit, buildCommit, type Commit, type CommitInput, termsOf } from './vault/commit.ts'
export {
  applyChange,
  EMPTY_CONTENT,
  proveAssetRow,
  proveItemRow,
  type VaultContent,
  verifyContent,
} from './vault/content.ts'
export {
  type AclEntry,
  aclSet,
  CLASSIFICATIONS,
  type DetailField,
  type EnvRow,
  epochNew,
  type ItemDetailPayload,
  type ItemRow,
  itemDetail,
  MAX_ITEM_FIELDS,
  MAX_NAME,
  MAX_WEBSITE,
  projectAdmins,
  projectCreate,
  projectSet,
  type Role,
  type VaultHeadPayload,
  vaultHead,
} from './vault/documents.ts'
export {
  type FieldEdit,
  type ItemBase,
  type ItemEdit,
  type ItemPlan,
  planItem,
  type SignedItem,
  signItem,
} from './vault/edit.ts'
export { type ProvenDetail, verifyFormer, verifyWayBack } from './vault/former.ts'
export { ensureWithinGrace } from './vault/grace.ts'
export { openVaultKeys, type VaultKeys } from './vault/grants.ts'
export { changeAccess, createVault } from './vault/lifecycle.ts'
export { ensureProjectVaults, type ProjectResponse, type VerifiedProject, verifyProject } from './vault/project.ts'
export { rebaseItem } from './vault/rebase.ts'
export {
  envField,
  openVerifiedField,
  type VerifiedField,
  type VerifiedItem,
  type VerifiedItemRow,
  verifyAssetRow,
  verifyAssets,
  verifyEnvironment,
  verifyItem,
  verifyItemRow,
  verifyItems,
} from './vault/rows.ts'
export { roleOf, type VerifiedHead, verifyHead } from './vault/vault.ts'
export {
  type HandoffField,
  type HandoffLabel,
  handoff,
  handoffReceipt,
  makeHandoffReceipt,
  openHandoff,
  provisionerOf,
  sealHandoff,
  type VerifiedHandoff,
  verifyHandoff,
} from './wraps/handoff.ts'
export { wrapDek, wrappedDek } from './wraps/wrapped-key.ts'
