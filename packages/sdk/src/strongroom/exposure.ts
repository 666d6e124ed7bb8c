import { mapValue, principalOf, toBase64url } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor } from '../engine/actor.ts'
import { membersOf, refuseUnless } from '../engine/answers.ts'
import { ApiError } from '../errors.ts'
import type { KeyedPlace } from './core.ts'
import { contentUnder } from './exposed-content.ts'
import { type LoggedUpdate, readWholeLog } from './log-verification.ts'
import { ConfigError } from './public-errors.ts'
import type { ExposedGrant, ExposedKey, ExposedVault, Exposure, LogMoment } from './transparency.ts'

// What a key could decrypt, from the log alone: every leaf is read and hashed into what the log signed, so no grant can be left
// out. What the states behind the names say must hash to what the leaves say.

/** What no log can say, in words to be shown with the list. */
const LIMITS = [
  'Whoever held a vault key can open every ciphertext under it that they ever obtained, also after their access ended.',
  'A value that was encrypted anew under a newer key may still be the same value: only writing another one makes it safe.',
  'Items that were removed or moved since, and earlier values of fields, are not listed.',
  'Copies that were shared by link are sealed outside of the log and are not listed.',
  'Who asked for what is in the audit events of the server, not in the log.',
] as const

/** A state that a leaf has changed, and how it was left. */
interface Trace {
  readonly moments: LogMoment[]
  valueHash: string
}

interface Traces {
  readonly keys: ReadonlyMap<string, Trace>
  readonly vaults: ReadonlyMap<string, Trace>
  /** By vault. */
  readonly grants: ReadonlyMap<string, readonly ExposedGrant[]>
}

const momentOf = ({ index, at }: LoggedUpdate['entry']): LogMoment => ({ index, at })

const isTombstone = ({ entry, newHash }: LoggedUpdate): boolean =>
  newHash === toBase64url(mapValue({ wrapHash: '', index: entry.index }))

/** Collects what leaves say of these keys. */
function makeCollector(isSubject: (kid: string) => boolean): { add(update: LoggedUpdate): void; traces: Traces } {
  const keys = new Map<string, Trace>()
  const vaults = new Map<string, Trace>()
  const open = new Map<string, ExposedGrant>()
  const grants = new Map<string, ExposedGrant[]>()
  const trace = (traces: Map<string, Trace>, id: string, { entry, newHash }: LoggedUpdate): void => {
    const known = traces.get(id) ?? { moments: [], valueHash: '' }
    known.moments.push(momentOf(entry))
    known.valueHash = newHash
    traces.set(id, known)
  }
  const addGrant = (update: LoggedUpdate, vaultId: string, keyId: string, version: string): void => {
    const live = open.get(update.name)
    const moment = momentOf(update.entry)
    if (isTombstone(update)) {
      if (live) Object.assign(live, { until: moment })
      open.delete(update.name)
    } else if (!live) {
      const grant: ExposedGrant = { keyId, keyVersion: Number(version), from: moment, until: null }
      open.set(update.name, grant)
      grants.set(vaultId, [...(grants.get(vaultId) ?? []), grant])
    }
  }
  return {
    traces: { keys, vaults, grants },
    add: (update) => {
      const [kind, id = '', kid = '', version = ''] = update.name.split('/')
      if (kind === 'kid' && isSubject(id)) trace(keys, id, update)
      if (kind === 'vault') trace(vaults, id, update)
      if (kind === 'grant' && isSubject(kid)) addGrant(update, id, kid, version)
    },
  }
}

/** The state under a name, which is the one that the log left there, or a refusal. */
async function stateAt(
  { client }: Actor,
  name: string,
  valueHash: string,
  options: CallOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { map } = await client.transparency.state({ query: { name } }, options)
  const state = membersOf(map.find((one) => one.name === name)?.state, name)
  const isLogged = toBase64url(mapValue(state as Parameters<typeof mapValue>[0])) === valueHash
  refuseUnless(isLogged, 'bad_map_proof', 'a state is not the one that the log names', { name })
  return state
}

async function keyOf(actor: Actor, keyId: string, trace: Trace, options: CallOptions): Promise<ExposedKey> {
  const { status, end } = await stateAt(actor, `kid/${keyId}`, trace.valueHash, options)
  const ended = typeof end === 'number' ? trace.moments.find(({ index }) => index === end - 1) : undefined
  return {
    keyId,
    status: String(status) as ExposedKey['status'],
    added: trace.moments[0] as LogMoment,
    ended: ended ?? null,
  }
}

async function vaultOf(
  { actor, options }: KeyedPlace,
  vaultId: string,
  { grants, vaults }: Traces,
): Promise<ExposedVault> {
  const own = grants.get(vaultId) ?? []
  const versions = new Set(own.map(({ keyVersion }) => keyVersion))
  const { valueHash = '' } = vaults.get(vaultId) ?? {}
  const state = await stateAt(actor, `vault/${vaultId}`, valueHash, options)
  const due = state.rotationDue as { readonly at?: unknown } | null
  const logged = {
    vaultId,
    grants: own,
    keyVersion: Number(state.dekVersion),
    knowsCurrentKey: versions.has(Number(state.dekVersion)),
    rotationDue: due === null ? null : new Date(Number(due.at)),
  }
  try {
    return { ...logged, ...(await contentUnder(actor, vaultId, versions, options)) }
  } catch (error) {
    // Somebody else's vault: the log says that it is concerned, and whoever can read it has to look.
    if (error instanceof ApiError && error.code === 'vault_not_found') return { ...logged, name: null, items: null }
    throw error
  }
}

/** How a key stands by the log, and which vaults that it was ever given need another key. */
export async function vaultsDueBy(
  { actor, options }: KeyedPlace,
  kid: string,
): Promise<{ readonly status: string; readonly rotationDue: readonly string[] }> {
  const { add, traces } = makeCollector((one) => one === kid)
  await readWholeLog(actor, options, add)
  const { valueHash = '' } = traces.keys.get(kid) ?? {}
  const { status } = await stateAt(actor, `kid/${kid}`, valueHash, options)
  const rotationDue: string[] = []
  for (const vaultId of traces.grants.keys()) {
    const state = await stateAt(actor, `vault/${vaultId}`, traces.vaults.get(vaultId)?.valueHash ?? '', options)
    if (state.rotationDue !== null) rotationDue.push(vaultId)
  }
  return { status: String(status), rotationDue }
}

const KID = /^(?:user|agent):[A-Za-z0-9_-]{4,64}:[a-z2-7]{32}$/
const PRINCIPAL = /^(?:user|agent):[A-Za-z0-9_-]{4,64}$/

/** What the log says of a principal or of one key. */
async function traceOf({ actor, options }: KeyedPlace, subject: string) {
  if (!KID.test(subject) && !PRINCIPAL.test(subject))
    throw new ConfigError('this is neither a principal nor a key', {
      code: 'config_invalid',
      hint: 'Write agent:<id>, user:<id>, or a key id as vaults.signers shows it.',
    })
  const { add, traces } = makeCollector((kid) => kid === subject || principalOf(kid) === subject)
  const head = await readWholeLog(actor, options, add)
  const keys: ExposedKey[] = []
  for (const [keyId, trace] of traces.keys) keys.push(await keyOf(actor, keyId, trace, options))
  return { head, traces, keys }
}

export const keysOf = async (place: KeyedPlace, principal: string): Promise<readonly ExposedKey[]> =>
  (await traceOf(place, principal)).keys

/** Of all keys of a principal, or of one key. */
export async function exposureOf(place: KeyedPlace, subject: string): Promise<Exposure> {
  const { head, traces, keys } = await traceOf(place, subject)
  const vaults: ExposedVault[] = []
  for (const vaultId of traces.grants.keys()) vaults.push(await vaultOf(place, vaultId, traces))
  return { subject, head, keys, vaults, limits: LIMITS }
}
