import type { EnvironmentOptions } from '../engine/environment.ts'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core, KeyedPlace } from './core.ts'
import { type EnvBundle, type EnvParts, envBundle } from './env-bundle.ts'
import { ensureExportable } from './env-names.ts'
import { toPublic } from './error-map.ts'
import { durationMs } from './options.ts'
import { NotFoundError } from './public-errors.ts'
import { type Outcome, type Reader, readRefs, readVariables } from './read-secrets.ts'
import { receiptFrom } from './receipt.ts'
import { type ParsedRef, parseRef, requireRef } from './refs.ts'
import type { Secret, SecretRef } from './secret.ts'
import type { StrongroomError } from './strongroom-error.ts'
import type { EnvChange, WatchOptions } from './watch.ts'
import type { SetOptions, SetResult } from './write-secret.ts'

export type EnvSource =
  | { readonly vault: string }
  | { readonly project: string }
  /** By id, or by slug or name where the caller has one of it. */
  | { readonly license: string }
  | { readonly refs: Readonly<Record<string, SecretRef | string>> }

export interface EnvOptions extends RequestOptions {
  /** True: nothing but the cache. False: never the cache. Absent: the cache where the server cannot be reached. */
  readonly offline?: boolean
  /** Of a cached answer, such as `'24h'`. */
  readonly maxAge?: string | number
  /**
   * Names that are refused otherwise, because they change how programs run: `PATH`, `NODE_OPTIONS` and the like. `any`: the caller
   * looks at them itself, with `nameProblem`.
   */
  readonly allowNames?: readonly string[] | 'any'
  /** Names of references that may lead nowhere; they are left out then. */
  readonly optional?: readonly string[]
}

export type TryResult = { ok: true; secret: Secret } | { ok: false; error: StrongroomError }

export interface Secrets {
  /** One value of `sr://vault/item/field`: fetched, verified, and only then decrypted. `reveal()` of it is the one way to the value. */
  get(ref: SecretRef | string, options?: RequestOptions): ApiPromise<Secret>
  /** All or nothing. */
  getAll<K extends string>(
    refs: Readonly<Record<K, SecretRef | string>>,
    options?: RequestOptions,
  ): ApiPromise<Record<K, Secret>>
  /** Each by itself: one that fails does not hold up the others. */
  tryGetAll<K extends string>(
    refs: Readonly<Record<K, SecretRef | string>>,
    options?: RequestOptions,
  ): ApiPromise<Record<K, TryResult>>
  /** Writes one field; makes the item and the field where they are not there yet, never the vault. */
  set(ref: SecretRef | string, value: string | Uint8Array, options?: SetOptions): ApiPromise<SetResult>
  /** Removes one field. */
  remove(ref: SecretRef | string, options?: RequestOptions): ApiPromise<void>
  /** Whatever of a vault, a project or a licence is marked for the environment, in one request; or the references that are named. */
  env(source: EnvSource, options?: EnvOptions): ApiPromise<EnvBundle>
  /** The environment as it is, and again with each change. */
  watch(source: EnvSource, options?: WatchOptions): AsyncIterable<EnvChange>
  /** Null for what is no reference. */
  parseRef(text: string): ParsedRef | null
}

const writing = () => import('./write-secret.ts')

export function secretsOf(core: Core): Secrets {
  const { onReveal } = core.config.hooks
  const reader = ({ session, actor, options }: KeyedPlace): Reader => ({ session, actor, options, onReveal })
  const env = (source: EnvSource, options: EnvOptions = {}): ApiPromise<EnvBundle> =>
    core.keyed(options, (place) => readSource(core, reader(place), place, source, options))
  return {
    get: (ref, options) =>
      core.keyed(options, async (place) => {
        const parsed = requireRef(ref)
        const [outcome] = await readRefs(reader(place), parsed.vault, [parsed])
        return opened(outcome as Outcome)
      }),
    getAll: <K extends string>(refs: Readonly<Record<K, string>>, options?: RequestOptions) =>
      core.keyed(options, async (place) => {
        const outcomes = await readAll(reader(place), refs, true)
        return mapMembers(outcomes, opened) as Record<K, Secret>
      }),
    tryGetAll: <K extends string>(refs: Readonly<Record<K, string>>, options?: RequestOptions) =>
      core.keyed(options, async (place) => {
        const outcomes = await readAll(reader(place), refs, false)
        return mapMembers(outcomes, (one) => (one.ok ? one : { ok: false, error: toPublic(one.error) })) as Record<
          K,
          TryResult
        >
      }),
    set: (ref, value, options) =>
      core.keyed(options, async (place) => (await writing()).setSecret(place, requireRef(ref), value, options)),
    remove: (ref, options) =>
      core.keyed(options, async (place) => (await writing()).removeSecret(place, requireRef(ref))),
    env,
    watch: async function* (source, options) {
      const { watchEnvironment } = await import('./watch.ts')
      yield* watchEnvironment(core, source, options)
    },
    parseRef,
  }
}

function opened(outcome: Outcome): Secret {
  if (outcome.ok) return outcome.secret
  throw outcome.error
}

const mapMembers = <A, B>(members: Readonly<Record<string, A>>, work: (member: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, work(member)]))

/** Vault by vault. What concerns a whole vault is the outcome of each of its references, unless all shall fail with it. */
async function readAll(
  reader: Reader,
  refs: Readonly<Record<string, string>>,
  isStrict: boolean,
): Promise<Record<string, Outcome>> {
  const parsed = new Map<string, ParsedRef>()
  const outcomes: Record<string, Outcome> = {}
  for (const [name, ref] of Object.entries(refs)) {
    try {
      parsed.set(name, requireRef(ref))
    } catch (error) {
      outcomes[name] = { ok: false, error }
    }
  }
  for (const vault of new Set([...parsed.values()].map((ref) => ref.vault))) {
    const wanted = [...parsed].filter(([, ref]) => ref.vault === vault)
    const read = await readRefs(
      reader,
      vault,
      wanted.map(([, ref]) => ref),
    ).catch((error: unknown) => {
      if (isStrict) throw error
      return wanted.map((): Outcome => ({ ok: false, error }))
    })
    for (const [i, [name]] of wanted.entries()) outcomes[name] = read[i] as Outcome
  }
  return Object.fromEntries(Object.keys(refs).map((name) => [name, outcomes[name] as Outcome]))
}

function cachingOf({ cache }: Core['config'], { offline, maxAge }: EnvOptions): EnvironmentOptions {
  const cached = offline === true ? 'only' : offline === undefined && cache ? 'unreachable' : 'never'
  return { cached, ...(maxAge !== undefined && { maxAgeMs: durationMs(maxAge, 'maxAge') }) }
}

async function readSource(
  core: Core,
  reader: Reader,
  place: KeyedPlace,
  source: EnvSource,
  options: EnvOptions,
): Promise<EnvBundle> {
  if ('license' in source) return (await import('./license-env.ts')).licenseEnv(core, place, source.license, options)
  const caching = cachingOf(core.config, options)
  const from = { ...reader, caching, isOffline: caching.cached === 'only' }
  if ('vault' in source) {
    const { secrets, read } = await readVariables(from, source.vault, { ...caching, ...place.options })
    ensureExportable(secrets.keys(), options.allowNames)
    return envBundle({ secrets, receipt: receiptFrom(read.receipt), vaultIds: [read.head.vault.vaultId] })
  }
  if ('project' in source) {
    const parts = await readProjectSource(reader, source.project, caching)
    ensureExportable(parts.secrets.keys(), options.allowNames)
    return envBundle(parts)
  }
  const outcomes = await readAll(from, source.refs, false)
  const found = Object.entries(outcomes).filter(([name, one]) => !options.optional?.includes(name) || !isAbsent(one))
  return envBundle({ secrets: new Map(found.map(([name, one]) => [name, opened(one)])) })
}

async function readProjectSource(
  reader: Reader,
  project: string,
  { cached, maxAgeMs }: EnvironmentOptions,
): Promise<EnvParts> {
  if (cached === 'only') return (await import('./project-offline.ts')).readCachedProject(reader, project, maxAgeMs)
  return (await import('./project-environment.ts')).readProjectVariables(reader, project)
}

const isAbsent = (outcome: Outcome): boolean => !outcome.ok && toPublic(outcome.error) instanceof NotFoundError
