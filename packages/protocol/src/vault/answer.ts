import { type DirectoryResponse, verifyDirectory } from '../directory/resolve.ts'
import { list, type Of, record, type Shape, text } from '../encoding/shape.ts'
import { type Envelope, envelopeShape } from '../identity/document.ts'
import { vaultIdText } from '../identity/identifiers.ts'
import type { Recipient } from '../identity/private-keys.ts'
import { type Freshness, type LogPin, verifyTransparency } from '../log/transparency.ts'
import type { Awaitable } from '../platform/platform.ts'
import type { FieldValue, MatchedEnvelope } from '../values/field.ts'
import { openVaultKeys, type VaultKeys } from './grants.ts'
import { envField, matchField, openMatchedField, type VerifiedEnvRow, verifyEnvironment } from './rows.ts'
import { type VaultPin, type VaultResponse, type VerifiedHead, verifyHead, verifyVault } from './vault.ts'

// Section 6.4 as a whole: the order of a verified read. Nothing is decrypted before everything public has been verified.

const MAX_DOCUMENTS = 10_000
const MAX_FIELDS = 100_000
const envelopes = list(envelopeShape, MAX_DOCUMENTS)
const untouched: Shape<unknown> = (value) => value

/** The members every answer about a vault carries (4.5); `transparency` is checked by its own shape. */
const VAULT_MEMBERS = {
  vaultId: vaultIdText,
  genesis: envelopeShape,
  policies: envelopes,
  records: envelopes,
  capSets: envelopes,
  create: envelopeShape,
  adminsChain: envelopes,
  acl: envelopeShape,
  head: envelopeShape,
  transparency: untouched,
}
export const vaultAnswerShape = record(VAULT_MEMBERS)
export type VaultAnswer = Of<typeof vaultAnswerShape>

const fieldShape = record({ row: untouched, value: text(undefined, 131_072) })
export const environmentAnswerShape = record({
  ...VAULT_MEMBERS,
  wrappedKeys: list(envelopeShape, 1024),
  fields: list(fieldShape, MAX_FIELDS),
})
export type EnvironmentAnswer = Of<typeof environmentAnswerShape>

/** What a reader brings: the pins of its trust store and the bounds of its patience. */
export interface ReaderTrust {
  readonly log: LogPin
  readonly genesis: string
  readonly vaultPin?: VaultPin
  readonly freshness: Freshness
  /** To sign anew what a compromised key signed last (4.4), and for nothing else. */
  readonly isReviewing?: boolean | undefined
}

/** Transparency, directory, admins, access list, head. */
export async function verifyVaultAnswer(
  answer: VaultAnswer,
  vaultId: string,
  trust: ReaderTrust,
): Promise<VerifiedHead> {
  const view = await verifyTransparency(answer.transparency, trust.log, trust.freshness)
  const directory = await verifyDirectory(view, answer satisfies DirectoryResponse, trust.genesis, trust.isReviewing)
  // The id that was asked for, not the one that was answered.
  const response: VaultResponse = {
    vaultId,
    create: answer.create,
    adminsChain: answer.adminsChain,
    acl: answer.acl,
    head: answer.head,
  }
  const vault = await verifyVault(directory, response, trust.vaultPin)
  return verifyHead(vault, response.head)
}

/** An environment that was verified to the last byte that is not yet decrypted. */
export interface VerifiedRead {
  readonly head: VerifiedHead
  readonly rows: readonly VerifiedEnvRow[]
  readonly wraps: readonly Envelope[]
  readonly envelopes: readonly string[]
}

/** Everything of 6.4 that needs no private key; an auditor or an evidence check stops here. */
export async function verifyEnvironmentAnswer(
  candidate: unknown,
  vaultId: string,
  trust: ReaderTrust,
): Promise<VerifiedRead> {
  const { wrappedKeys, fields, ...answer } = environmentAnswerShape(candidate, 'answer')
  const head = await verifyVaultAnswer(answer, vaultId, trust)
  const rows = verifyEnvironment(
    head,
    fields.map((field) => field.row),
  )
  return { head, rows, wraps: wrappedKeys, envelopes: fields.map((field) => field.value) }
}

export interface OpenedField {
  readonly row: VerifiedEnvRow
  readonly value: FieldValue
}

export interface OpenedEnvironment {
  readonly head: VerifiedHead
  readonly keys: VaultKeys
  readonly fields: readonly OpenedField[]
}

/** The whole of 6.4: verify, unwrap, open. Either every field opens or nothing is returned. */
export async function openEnvironment(
  candidate: unknown,
  vaultId: string,
  trust: ReaderTrust,
  recipient: Recipient,
): Promise<OpenedEnvironment> {
  const { head, rows, wraps, envelopes: values } = await verifyEnvironmentAnswer(candidate, vaultId, trust)
  // Everything public comes first: an exchanged ciphertext is seen before any private key is used.
  const sealed = rows.map((row, i) => matchField(row, values[i] as string))
  const keys = await openVaultKeys(head, wraps, recipient)
  const opened = await openAll(rows, (row, i) => openMatchedField(keys, envField(row), sealed[i] as MatchedEnvelope))
  const fields = rows.map((row, i): OpenedField => ({ row, value: opened[i] as FieldValue }))
  return { head, keys, fields }
}

/** Browsers open fields side by side, Node one after the other without a promise for each. */
async function openAll(
  rows: readonly VerifiedEnvRow[],
  open: (row: VerifiedEnvRow, i: number) => Awaitable<FieldValue>,
): Promise<readonly FieldValue[]> {
  const opening: Awaitable<FieldValue>[] = []
  try {
    for (const [i, row] of rows.entries()) opening.push(open(row, i))
  } catch (error) {
    // The first refusal is the answer; what is still under way must not surface as another.
    for (const pending of opening) if (pending instanceof Promise) pending.catch(() => undefined)
    throw error
  }
  return Promise.all(opening)
}
