import type { ProtocolError } from '../errors.ts'
import type { Evidence } from './check-evidence.ts'
import type { EvidenceForm } from './evidence-form.ts'
import { logPinOf, type OrgTrust, shortened } from './store.ts'

// Section 9.3: an alarm leaves a file that a third party can check without keys, without the server and without us. Every reader makes
// one where it refuses; checking one is apart (check-evidence.ts), so that nobody loads that for reading.

export interface Refusal {
  readonly error: ProtocolError
  readonly org: string
  readonly vaultId: string
  readonly trust: OrgTrust
  readonly answer: unknown
  readonly now: number
  readonly maxStaleMs: number
  readonly form?: EvidenceForm | undefined
}

/** Everything public that led to a refusal. Holds no key, no value and no ciphertext of a value. */
export function makeEvidence({ error, org, vaultId, trust, answer, now, maxStaleMs, form }: Refusal): Evidence {
  const { genesis, origin, logVkeys, tlogPolicy, checkpoint, minimum } = trust
  const vault = (Object.hasOwn(trust.vaults, vaultId) && trust.vaults[vaultId]) || null
  const ended = [...(logPinOf(org, trust).ended ?? [])].map(([kid, entry]) => ({ kid, ...entry }))
  return {
    version: 1,
    code: error.code,
    message: shortened(error.message),
    at: now,
    maxStaleMs,
    org,
    vaultId,
    pins: { genesis, origin, logVkeys, tlogPolicy, checkpoint, minimum, vault, ...(ended.length > 0 && { ended }) },
    answer: withoutValues(answer),
    ...(form !== undefined && { form }),
  }
}

const FIELD_ENVELOPE = /v3\.[\w-]{128,}/g
const MAX_DEPTH = 64

/** An answer that is refused may hold a ciphertext anywhere, so it is looked for everywhere. */
function withoutValues(part: unknown, depth = 0): unknown {
  if (typeof part === 'string') return part.replace(FIELD_ENVELOPE, '')
  if (typeof part !== 'object' || part === null) return part
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(part)) return part.map((entry: unknown) => withoutValues(entry, depth + 1))
  return Object.fromEntries(
    Object.entries(part).map(([name, entry]) => [withoutValues(name), withoutValues(entry, depth + 1)]),
  )
}
