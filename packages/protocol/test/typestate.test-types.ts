// Checked by the compiler alone, and never run: steps taken in the wrong order do not compile. Every line under
// `@ts-expect-error` is an error now; were one of them to compile, the directive itself would be the error.
// Seen red: `Dek` and `VerifiedField` without their brands; `openVaultKeys` taking a `VerifiedVault`; `VerifiedDocument` as a plain object;
// `verifyVault` taking the response of a directory.

import type { InviteLink } from '../src/directory/invite.ts'
import type { Envelope } from '../src/identity/document.ts'
import type { Identity, Signer } from '../src/identity/private-keys.ts'
import {
  applyChange,
  type CheckedKey,
  changeAccess,
  checkKey,
  type Dek,
  type DirectoryResponse,
  decryptAttachment,
  EMPTY_CONTENT,
  type EnvRow,
  endorseAcceptance,
  endorseKey,
  ensureProjectVaults,
  envField,
  type ItemRow,
  invite,
  makeDocument,
  openEnvironment,
  openVaultKeys,
  openVerifiedField,
  peekDocument,
  planItem,
  type ReaderTrust,
  remember,
  rotateKey,
  type TrustStore,
  type VaultAnswer,
  type VaultKeys,
  type VerifiedAsset,
  type VerifiedCheckpoint,
  type VerifiedDirectory,
  type VerifiedDocument,
  type VerifiedField,
  type VerifiedHead,
  type VerifiedItem,
  type VerifiedItemRow,
  type VerifiedProject,
  type VerifiedView,
  vaultHead,
  verifyAcceptance,
  verifyDirectory,
  verifyEnvironment,
  verifyHead,
  verifyItem,
  verifyItemRow,
  verifyItems,
  verifyProject,
  verifyTransparency,
  verifyVaultAnswer,
  wrapDek,
} from '../src/index.ts'
import { verifyWrappedKey } from '../src/vault/grants.ts'
import type { VerifiedAssetRow, VerifiedEnvRow } from '../src/vault/rows.ts'
import { type VerifiedVault, verifyVault } from '../src/vault/vault.ts'
import { unwrapDek, type VerifiedWrappedKey } from '../src/wraps/wrapped-key.ts'

/** Exactly what a server sends, or what a caller could make up. */
interface Unverified {
  readonly answer: VaultAnswer
  readonly directoryResponse: DirectoryResponse
  readonly vaultResponse: Parameters<typeof verifyVault>[1]
  readonly envelope: Envelope
  readonly itemRow: ItemRow
  readonly envRow: EnvRow
  readonly sealed: string
  readonly trust: ReaderTrust
  readonly identity: Identity
  readonly signer: Signer
  readonly bundle: CheckedKey['bundle']
  readonly store: TrustStore
}

/** The steps in their order: each takes what the one before returns. This must compile. */
export async function inOrder(u: Unverified, head0: VerifiedHead): Promise<void> {
  const view: VerifiedView = await verifyTransparency(u.answer.transparency, u.trust.log, u.trust.freshness)
  const directory: VerifiedDirectory = await verifyDirectory(view, u.directoryResponse, u.trust.genesis)
  const vault: VerifiedVault = await verifyVault(directory, u.vaultResponse)
  const head: VerifiedHead = await verifyHead(vault, u.envelope)
  const keys: VaultKeys = await openVaultKeys(head, [u.envelope], u.identity)
  const rows: readonly VerifiedEnvRow[] = verifyEnvironment(head, [u.envRow])
  for (const row of rows) await openVerifiedField(keys, envField(row), u.sealed)
  const listed: readonly VerifiedItemRow[] = verifyItems(head, [u.itemRow])
  for (const row of listed) {
    const item: VerifiedItem = await verifyItem(head, row, u.envelope)
    for (const field of item.fields) await openVerifiedField(keys, field, u.sealed)
  }
  const wrapped: VerifiedWrappedKey = await verifyWrappedKey(vault, u.envelope, u.identity)
  const dek: Dek = await unwrapDek(wrapped, u.identity)
  await wrapDek(dek, checkKey(u.identity.kid, u.bundle), u.signer, 0)
  remember(u.store, { directory, heads: [head, head0], now: 0 })
}

/** A vault key is had from a verified wrap or made anew, and in no other way. */
export async function keysOutOfOrder(u: Unverified, vault: VerifiedVault, head: VerifiedHead): Promise<void> {
  // @ts-expect-error a wrapped key that came from the server
  await unwrapDek(u.envelope, u.identity)
  // @ts-expect-error a wrapped key that was only parsed
  await unwrapDek(peekDocument({} as never, u.envelope), u.identity)
  // @ts-expect-error an object that looks like one
  await unwrapDek({ payload: {} as never, hash: '' }, u.identity)
  // @ts-expect-error keys are opened under a head, not under a vault whose content nobody verified
  await openVaultKeys(vault, [u.envelope], u.identity)
  // @ts-expect-error an answer is not a vault
  await verifyWrappedKey(u.answer, u.envelope, u.identity)
  // @ts-expect-error a vault key made of its public members
  const dek: Dek = { org: '', vaultId: '', dekVersion: 1, dekCommit: '' }
  // @ts-expect-error raw bytes are no vault key
  await planItem(new Uint8Array(32), undefined, {} as never)
  // @ts-expect-error a public key that was not checked against its id
  await wrapDek(dek, u.bundle, u.signer, 0)
  // @ts-expect-error what is held are vault keys, not wraps
  await rotateKey({ org: '', at: 0, held: [u.envelope] }, u.identity, u.identity)
  // @ts-expect-error a list of envelopes is no set of keys
  await openVerifiedField([u.envelope], {} as VerifiedField, u.sealed)
  await openVaultKeys(head, [u.envelope], u.identity)
}

/** Nothing is opened before the rows that place it are verified. */
export async function contentOutOfOrder(u: Unverified, head: VerifiedHead, keys: VaultKeys): Promise<void> {
  // @ts-expect-error an environment row as it came
  envField(u.envRow)
  // @ts-expect-error an item row as it came
  await verifyItem(head, u.itemRow, u.envelope)
  // @ts-expect-error rows are held against a verified head
  verifyEnvironment(u.answer, [u.envRow])
  // @ts-expect-error a head that was only parsed
  verifyItems(peekDocument(vaultHead, u.envelope), [u.itemRow])
  // @ts-expect-error a head payload
  verifyItemRow(head.payload, u.itemRow, {})
  // @ts-expect-error an item that was never verified has no fields to open
  await openVerifiedField(keys, u.itemRow, u.sealed)
  const place = { itemId: '', fieldId: '', rev: 1, label: '', env: true, ct: '', dekVersion: 1 }
  // @ts-expect-error a place that the caller made up
  await openVerifiedField(keys, place, u.sealed)
  const stream = { dek: {} as Dek, source: {} as never }
  // @ts-expect-error an attachment row is not an attachment
  for await (const _ of decryptAttachment({ ...stream, asset: {} as VerifiedAssetRow })) return
  // @ts-expect-error the checkpoint of an attachment as it came
  for await (const _ of decryptAttachment({ ...stream, asset: u.envelope })) return
  for await (const _ of decryptAttachment({ ...stream, asset: {} as VerifiedAsset })) return
}

/** Vault, head and directory stand on one another. */
export async function authorityOutOfOrder(
  u: Unverified,
  view: VerifiedView,
  directory: VerifiedDirectory,
  vault: VerifiedVault,
): Promise<void> {
  // @ts-expect-error a directory answer that nobody verified
  await verifyVault(u.directoryResponse, u.vaultResponse)
  // @ts-expect-error a view of the log is no directory
  await verifyVault(view, u.vaultResponse)
  // @ts-expect-error the documents of a vault are no vault
  await verifyHead(u.vaultResponse, u.envelope)
  // @ts-expect-error a directory stands on a verified view, not on a transparency object
  await verifyDirectory(u.answer.transparency, u.directoryResponse, '')
  // @ts-expect-error nor on a checkpoint
  await verifyDirectory({} as VerifiedCheckpoint, u.directoryResponse, '')
  // @ts-expect-error a project stands on a verified directory
  await verifyProject(view, {} as never)
  // @ts-expect-error the vaults of a project that was only parsed
  ensureProjectVaults({ projectId: '', docHash: '', payload: {} as never }, [])
  // @ts-expect-error what is not verified is not remembered
  remember(u.store, { directory: u.directoryResponse, heads: [], now: 0 })
  // @ts-expect-error a vault is not remembered by its answer
  remember(u.store, { directory, heads: [u.answer], now: 0 })
  // @ts-expect-error access is changed on a verified head
  await changeAccess({ head: vault, content: EMPTY_CONTENT, at: 0 }, u.signer)
  // @ts-expect-error the result of a read is a head, not an answer
  const answer: VaultAnswer = await verifyVaultAnswer(u.answer, '', u.trust)
  // @ts-expect-error reading needs pins, not a trust store
  await openEnvironment(answer, '', u.store, u.identity)
  ensureProjectVaults({} as VerifiedProject, [])
}

/** Signatures: what was parsed is not what was verified. */
export async function documentsOutOfOrder(u: Unverified): Promise<void> {
  // @ts-expect-error a parsed invite is not a verified one
  await verifyAcceptance({ invite: peekDocument(invite, u.envelope), candidate: {}, now: 0, isKnown: () => false })
  // @ts-expect-error an acceptance is endorsed after it was verified
  await endorseAcceptance(u.envelope, u.signer)
  // @ts-expect-error a registration is endorsed after its own signature was verified
  await endorseKey(u.envelope, u.signer)
  // @ts-expect-error a link is parsed, not made up
  const link: InviteLink = { org: '', genesis: '', inviteId: '', inviteHash: '' }
  // @ts-expect-error a document is verified by `verifyDocument` alone
  const document: VerifiedDocument<typeof vaultHead> = { ...link, ...peekDocument(vaultHead, u.envelope) }
  // @ts-expect-error a key is checked by `checkKey` alone
  const key: CheckedKey = { kid: u.identity.kid, principal: u.identity.key.principal, bundle: u.bundle, kem: null }
  // @ts-expect-error a document has every member of its kind
  await makeDocument(vaultHead, { org: '', at: 0, vaultId: document.hash + key.kid }, [u.signer])
  // @ts-expect-error a row is one of the three kinds of content
  applyChange(EMPTY_CONTENT, { assets: [u.itemRow] })
}
