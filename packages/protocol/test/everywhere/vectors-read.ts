import { verifyDirectory } from '../../src/directory/resolve.ts'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { toHex } from '../../src/encoding/bytes.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { peekCheckpoint } from '../../src/log/checkpoint.ts'
import { verifyTransparency } from '../../src/log/transparency.ts'
import { parseTrustAnchor } from '../../src/trust/anchor.ts'
import { remember } from '../../src/trust/remember.ts'
import { logPinOf, orgTrustOf, parseTrustStore, pinAnchor, serialiseTrustStore } from '../../src/trust/store.ts'
import { openEnvironment, type ReaderTrust, vaultAnswerShape, verifyVaultAnswer } from '../../src/vault/answer.ts'
import { openVaultKeys } from '../../src/vault/grants.ts'
import { ensureProjectVaults, type ProjectPin, type ProjectResponse, verifyProject } from '../../src/vault/project.ts'
import {
  openVerifiedField,
  verifyAssets,
  verifyEnvironment,
  verifyItem,
  verifyItemRow,
  verifyItems,
} from '../../src/vault/rows.ts'
import type { VaultPin, VerifiedHead } from '../../src/vault/vault.ts'
import { applyPatch, identityFor, type KeyReference, type Operations, type PatchStep } from './vectors-notation.ts'

// Sections 6 and 9: whole answers, read by somebody.

/** What a reader has pinned, in JSON. */
interface TrustNotation {
  readonly org: string
  readonly genesis: string
  readonly origin: string
  readonly logKeys: readonly string[]
  readonly witnessPolicy: string
  readonly seen: { readonly size: number; readonly root: string } | null
  readonly vaultPin?: VaultPin
  readonly now: number
  readonly maxStaleMs: number
}

function trustOf({ genesis, seen, vaultPin, now, maxStaleMs, ...log }: TrustNotation): ReaderTrust {
  return {
    log: { ...log, seen: seen && { size: seen.size, root: fromBase64url(seen.root) } },
    genesis,
    freshness: { now, maxStaleMs },
    ...(vaultPin && { vaultPin }),
  }
}

interface GivenAnswers {
  readonly answers: Readonly<Record<string, unknown>>
  readonly trust: TrustNotation
}

interface AnswerInput {
  readonly answer: string
  readonly patch?: readonly PatchStep[]
  readonly vaultId: string
  readonly trust?: Partial<TrustNotation>
}

const answerOf = ({ answer, patch = [] }: AnswerInput, { answers }: GivenAnswers): unknown =>
  applyPatch(answers[answer], patch)
const readerTrust = ({ trust }: AnswerInput, given: GivenAnswers): ReaderTrust => trustOf({ ...given.trust, ...trust })

export const readOperations: Operations = {
  read: async (input: AnswerInput & { reader: KeyReference }, given: GivenAnswers) => {
    const { fields, head, keys } = await openEnvironment(
      answerOf(input, given),
      input.vaultId,
      readerTrust(input, given),
      await identityFor(input.reader),
    )
    const { checkpoint, witnessed } = head.vault.directory.view
    return {
      fields: fields.map(({ row, value }) => ({ label: row.label, type: value.type, value: toHex(value.value) })),
      headVersion: head.payload.headVersion,
      dekVersions: [...keys.keys()],
      size: checkpoint.size,
      witnessed,
    }
  },
}

type HeadInput = AnswerInput

const headOf = (input: HeadInput, given: GivenAnswers): Promise<VerifiedHead> =>
  verifyVaultAnswer(vaultAnswerShape(answerOf(input, given), 'answer'), input.vaultId, readerTrust(input, given))

interface ItemInput extends HeadInput {
  readonly row: unknown
  readonly proof: unknown
  readonly detail: Envelope
  readonly open?: {
    readonly reader: KeyReference
    readonly wraps: readonly Envelope[]
    readonly values: Readonly<Record<string, string>>
  }
}

async function readItem(input: ItemInput, given: GivenAnswers) {
  const head = await headOf(input, given)
  const item = await verifyItem(head, verifyItemRow(head, input.row, input.proof), input.detail)
  const { by } = item.document.payload
  if (!input.open) return { by, fields: item.fields }
  const { reader, wraps, values } = input.open
  const keys = await openVaultKeys(head, wraps, await identityFor(reader))
  const opened = []
  for (const field of item.fields) {
    const { type, value } = await openVerifiedField(keys, field, values[field.fieldId] as string)
    opened.push({ label: field.label, env: field.env, type, value: toHex(value) })
  }
  return { by, opened }
}

export const detailOperations: Operations = {
  item: readItem,
  items: async (input: HeadInput & { rows: readonly unknown[] }, given: GivenAnswers) => ({
    shown: verifyItems(await headOf(input, given), input.rows).map(({ itemId }) => itemId),
  }),
  environment: async (input: HeadInput & { rows: readonly unknown[] }, given: GivenAnswers) => ({
    labels: verifyEnvironment(await headOf(input, given), input.rows).map(({ label }) => label),
  }),
  assets: async (input: HeadInput & { rows: readonly unknown[] }, given: GivenAnswers) => ({
    assets: verifyAssets(await headOf(input, given), input.rows).map(({ assetId }) => assetId),
  }),
}

interface BundleInput extends ProjectResponse {
  readonly answer: string
  readonly vaults: readonly string[]
  readonly pin?: ProjectPin
}

export const projectOperations: Operations = {
  bundle: async ({ answer, vaults, pin, ...response }: BundleInput, given: GivenAnswers) => {
    const directoryAnswer = vaultAnswerShape(given.answers[answer], 'answer')
    const { log, genesis, freshness } = trustOf(given.trust)
    const view = await verifyTransparency(directoryAnswer.transparency, log, freshness)
    const project = await verifyProject(await verifyDirectory(view, directoryAnswer, genesis), response, pin)
    ensureProjectVaults(project, vaults)
    return { projectVersion: project.payload.projectVersion, vaults: project.payload.vaults }
  },
}

interface RememberInput {
  readonly before: unknown
  readonly answer: string
  readonly vaultId: string
  readonly now: number
  readonly maxStaleMs: number
  readonly confirmed?: readonly string[]
}

export const trustStoreOperations: Operations = {
  parse: ({ text }: { text: string }) => ({ text: serialiseTrustStore(parseTrustStore(text)) }),
  pin: ({ before, anchor, mode }: { before: unknown; anchor: string; mode: 'pinned' | 'tofu' }) => ({
    after: pinAnchor(parseTrustStore(JSON.stringify(before)), parseTrustAnchor(anchor), mode),
  }),
  remember: async (input: RememberInput, given: { org: string; answers: Readonly<Record<string, unknown>> }) => {
    const store = parseTrustStore(JSON.stringify(input.before))
    const pins = orgTrustOf(store, given.org)
    const vaultPin = pins.vaults[input.vaultId]
    const { now, maxStaleMs, confirmed } = input
    const trust = { log: logPinOf(given.org, pins), genesis: pins.genesis, freshness: { now, maxStaleMs } }
    const answer = vaultAnswerShape(given.answers[input.answer], 'answer')
    const head = await verifyVaultAnswer(answer, input.vaultId, { ...trust, ...(vaultPin && { vaultPin }) })
    const { directory } = head.vault
    const known = confirmed ? { confirmed: new Set(confirmed) } : {}
    const { store: after, notices } = remember(store, { directory, heads: [head], now, ...known })
    return { after, notices }
  },
  have: ({ note }: { note: string }) => {
    const { size, root } = peekCheckpoint(note)
    return { size, root: toBase64url(root) }
  },
}
