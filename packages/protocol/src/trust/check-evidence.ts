import { toBase64url } from '../encoding/base64.ts'
import { hash, integer, list, literal, nullable, type Of, record, type Shape, text, words } from '../encoding/shape.ts'
import { PROTOCOL_ERRORS } from '../error-codes.ts'
import { ensure, ProtocolError, type ProtocolErrorCode } from '../errors.ts'
import { id, kidText, vaultIdText } from '../identity/identifiers.ts'
import { peekCheckpoint } from '../log/checkpoint.ts'
import type { ReaderTrust } from '../vault/answer.ts'
import { evidenceForm, verifyForm } from './evidence-form.ts'
import { logPinOf, vaultPin } from './store.ts'

// Section 9.3: what an evidence file holds, and what it shows when it is verified again.

const MAX_ENDED = 100_000
const untouched: Shape<unknown> = (value) => value
const code: Shape<ProtocolErrorCode> = (value, path) => {
  ensure(typeof value === 'string' && Object.hasOwn(PROTOCOL_ERRORS, value), 'malformed', `${path} is not a code`)
  return value as ProtocolErrorCode
}

const endedKey = record({
  kid: kidText,
  status: literal('superseded', 'removed', 'compromised'),
  end: integer(),
})

const PIN_MEMBERS = {
  genesis: hash,
  origin: text(undefined, 256),
  logVkeys: list(text(undefined, 4096), 8),
  tlogPolicy: text(undefined, 65_536),
  /** The newest checkpoint the client had verified before, as it was signed: one half of a fork. */
  checkpoint: nullable(text(undefined, 65_536)),
  minimum: nullable(record({ size: integer(1), root: hash })),
  vault: nullable(vaultPin),
}
/** `ended`: keys whose end only the client remembered (9.4). */
const pins = record(PIN_MEMBERS, { ended: list(endedKey, MAX_ENDED) })

const MEMBERS = {
  version: literal(1),
  code,
  message: words(1000),
  at: integer(),
  maxStaleMs: integer(),
  org: id,
  vaultId: vaultIdText,
  pins,
  /** The answer as it came, but for the ciphertexts of values. */
  answer: untouched,
}
/** `form`: which answer it is; that about an environment if absent. */
const evidence = record(MEMBERS, { form: evidenceForm })
export type Evidence = Of<typeof evidence>

/** What checking an evidence file showed. */
export interface EvidenceVerdict {
  readonly claimed: ProtocolErrorCode
  /** The code the answer is refused with now; null if its public part verifies, as with alarms that only a key holder can see. */
  readonly found: ProtocolErrorCode | null
  readonly reproduced: boolean
  /** False for an answer that is shown to be looked at: nothing was run again. */
  readonly checkable: boolean
  /** Both checkpoints of a log, where the pins held one. */
  readonly checkpoints: readonly { readonly size: number; readonly root: string }[]
}

/** Runs the refused verification again, at the time of the refusal and with the pins of then. */
export async function checkEvidence(candidate: unknown): Promise<EvidenceVerdict> {
  const file = evidence(candidate, 'evidence')
  const { pins: held, vaultId, org } = file
  const ended = new Map(held.ended?.map(({ kid, status, end }) => [kid, { status, end }]))
  const pinned = logPinOf(org, {
    ...held,
    mode: 'pinned',
    policyVersion: 0,
    checkpointAt: 0,
    signers: {},
    principals: {},
    vaults: {},
    projects: {},
    alarms: [],
  })
  const trust: ReaderTrust = {
    log: { ...pinned, ended },
    genesis: held.genesis,
    freshness: { now: file.at, maxStaleMs: file.maxStaleMs },
    ...(held.vault !== null && { vaultPin: held.vault }),
  }
  const { form = 'environment' } = file
  const found = form === 'other' ? null : await refusalOf(() => verifyForm(form)(file.answer, vaultId, trust))
  const notes = [
    held.checkpoint,
    (file.answer as { transparency?: { checkpoint?: unknown } } | null)?.transparency?.checkpoint,
  ]
  const verdict = { claimed: file.code, found, reproduced: found === file.code, checkable: form !== 'other' }
  return { ...verdict, checkpoints: notes.flatMap(describeCheckpoint) }
}

async function refusalOf(verify: () => Promise<unknown>): Promise<ProtocolErrorCode | null> {
  try {
    await verify()
    return null
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
}

function describeCheckpoint(note: unknown): { size: number; root: string }[] {
  if (typeof note !== 'string') return []
  try {
    const { size, root } = peekCheckpoint(note)
    return [{ size, root: toBase64url(root) }]
  } catch {
    return []
  }
}
