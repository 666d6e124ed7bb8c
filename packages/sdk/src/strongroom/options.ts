import type { Evidence, Identity, Notice, Principal, PrivateKeyMaterial } from '@strongroom/protocol'
import type { OnRecovery, UnlinkedSigner, Verification } from '../engine/actor.ts'
import type { CacheStore } from '../engine/cache.ts'
import { explained, type TrustKeeper } from '../engine/trust.ts'
import { httpUrl } from './address.ts'
import { parseBundle } from './bundle.ts'
import { ConfigError } from './public-errors.ts'
import { DEFAULT_RETRY, makeBudget, type RetryPolicy } from './retry.ts'
import type { StrongroomError } from './strongroom-error.ts'
import { policyOf, type Witnesses } from './witness-option.ts'

/** Private keys that are usable without being seen; an HSM or a KMS can implement it. */
export type KeyProvider = Identity

export interface Hooks {
  onRequest?(event: { id: string; method: string; path: string; attempt: number; idempotencyKey?: string }): void
  onResponse?(event: { id: string; requestId?: string; status: number; ms: number }): void
  onRetry?(event: { id: string; attempt: number; delayMs: number; error: StrongroomError }): void
  /** An answer was verified, or refused with `code`. */
  onVerify?(event: Verification): void
  /** Somebody read a value: never the value. */
  onReveal?(event: { ref: string }): void
  /** Legitimate, but people should hear of it: a new administrator, a recovery, a rotation that is due. */
  onNotice?(notice: Notice): void
}

export interface Logger {
  error(message: string): void
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
}
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug'

export interface VerifyPolicy {
  /**
   * `strict`, the default. `warn`: goes on, with the notice `no_witness`, where too few witnesses have seen the newest checkpoint, or
   * too long ago. Nothing else is ever only a warning: not a signature, not a wrapped key, not a log that went back.
   */
  readonly mode?: 'strict' | 'warn'
  /** A new key of a known principal that nothing links to the old one: refused unless this says that it was confirmed with its owner. */
  readonly onNewSigner?: (signer: UnlinkedSigner) => 'trust' | 'reject' | Promise<'trust' | 'reject'>
  /** With witnesses: the age of the newest witnessed checkpoint that is still accepted. Also the bound of offline reads. */
  readonly maxCheckpointAge?: string | number
  /** Whose cosignatures count, and how many of them it takes, where the trust anchor does not say. */
  readonly witnesses?: Witnesses
  /** How long a read waits for witnesses to sign what was just written; 30 seconds if absent. */
  readonly maxWitnessWait?: string | number
  /** New keys of known principals that a person has confirmed with their owner. */
  readonly confirmedKeys?: readonly string[]
  /**
   * A server that was restored from a backup, proven by a statement of the directory administrators. `accept`, the default: goes
   * on, with the notice `log_recovered`. `refuse`: stays with `log_rollback`. A function decides.
   */
  readonly onRecovery?: OnRecovery
}

export interface StrongroomOptions {
  /** The credential string of an agent; in place of server, apiKey, privateKey, agentId and trustAnchor. */
  readonly bundle?: string
  /** `https://host`, where the server is. */
  readonly server?: string
  /** Of an agent; a function is asked before every request. */
  readonly apiKey?: string | (() => string | Promise<string>)
  /** Of a person; not together with an API key. */
  readonly accessToken?: string | (() => string | Promise<string>)
  readonly deviceId?: string
  /** PEM with PKCS#8 blocks, or keys that stay where they are. */
  readonly privateKey?: string | KeyProvider
  /** Whose keys these are; asked for if absent. */
  readonly agentId?: string
  /** The same for a person. */
  readonly userId?: string
  /** `vta1.…`; may be absent once the trust store knows the organisation. */
  readonly trustAnchor?: string
  /** What this client has seen and pinned: in Node a file, in browsers IndexedDB. `memoryTrust()` forgets it with the process. */
  readonly trustStore?: TrustKeeper
  /** What is accepted beyond signatures and proofs, which are never optional. */
  readonly verify?: VerifyPolicy
  /** Ciphertexts and proofs for when the server cannot be reached. */
  readonly cache?: CacheStore | false
  /** Keeps the evidence of a refused answer; the text it gives back names the place. */
  readonly onEvidence?: (evidence: Evidence) => unknown
  readonly fetch?: typeof fetch
  /** Origins of object stores that attachments may lie at, besides the server's own: `https://bucket.example`. */
  readonly storageOrigins?: readonly string[]
  /** Of one attempt, in milliseconds; 30 seconds if absent. */
  readonly timeout?: number
  /** How often a request that failed is sent again; twice if absent. */
  readonly maxRetries?: number
  readonly retry?: Partial<RetryPolicy>
  /** Told of requests, verifications and reveals; never of values. */
  readonly hooks?: Hooks
  /** Such as `console`. Nothing is logged without one. */
  readonly logger?: Logger
  /** The least that is logged; `warn` if absent. */
  readonly logLevel?: LogLevel
  /** Added to this client's own. */
  readonly userAgent?: string
  readonly defaultHeaders?: Readonly<Record<string, string>>
  /** An API key in a page belongs to whoever opens the page. */
  readonly dangerouslyAllowBrowserApiKey?: boolean
}

/** Where there are files. */
export interface Files {
  open(
    path: string,
  ): Promise<{ readonly chunks: AsyncIterable<Uint8Array>; readonly size: number; readonly name: string }>
  /** All of it under that name, or nothing. */
  save(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void>
}

/** What differs between Node, browsers and everything else. */
export interface Platform {
  readonly isBrowser: boolean
  env(): Readonly<Record<string, string | undefined>>
  readText?(path: string): string
  trustStore(env: Readonly<Record<string, string | undefined>>): TrustKeeper
  cache?(env: Readonly<Record<string, string | undefined>>): CacheStore
  readonly openKeys?: OpenKeys
  onEvidence?(evidence: Evidence): unknown
  readonly files?: Files
  /** For tools that watch a process from beside: what every attempt came to. */
  publish?(event: Attempt): void
  /** Whether a fetch failed before it had a connection; a browser does not say. */
  isUnsent?(cause: unknown): boolean
}

/** The private keys in `pem`, which `material` reads, with what they remember in the cache. It pays where processes are short. */
export type OpenKeys = (
  cache: CacheStore,
  principal: Principal,
  pem: string,
  material: () => PrivateKeyMaterial,
) => Promise<Identity>

/** One attempt of a request, without bodies, headers or credentials. */
export interface Attempt {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly attempt: number
  readonly ms: number
  readonly status?: number
  readonly requestId?: string
  /** Where no answer came. */
  readonly code?: string
}

/** Options with everything decided. */
export interface Config {
  readonly server: string
  readonly credential: () => Promise<Readonly<Record<string, string>>>
  readonly privateKey: string | KeyProvider | undefined
  readonly principal: string | undefined
  readonly trustAnchor: string | undefined
  readonly trust: TrustKeeper
  readonly cache: CacheStore | undefined
  readonly openKeys: OpenKeys | undefined
  readonly maxStaleMs: number
  readonly witnessWaitMs: number
  readonly witnessPolicy: string | undefined
  readonly mode: 'strict' | 'warn'
  readonly onNewSigner: VerifyPolicy['onNewSigner']
  readonly publish: ((event: Attempt) => void) | undefined
  readonly isUnsent: Platform['isUnsent']
  readonly confirmed: Set<string>
  readonly onRecovery: OnRecovery
  readonly onEvidence: ((evidence: Evidence) => unknown) | undefined
  readonly fetch: typeof fetch
  readonly storageOrigins: readonly string[]
  readonly files: Files | undefined
  readonly timeoutMs: number
  readonly retry: RetryPolicy
  readonly budget: { take(): boolean }
  readonly hooks: Hooks
  readonly log: (level: Exclude<LogLevel, 'off'>, message: string) => void
  readonly headers: Readonly<Record<string, string>>
  readonly isBrowser: boolean
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `'24h'`, `'90s'`, or milliseconds. */
export function durationMs(given: string | number, name: string): number {
  if (typeof given === 'number' && given >= 0) return given
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(String(given)) ?? []
  if (digits === undefined || unit === undefined)
    throw new ConfigError(`${name} is not a duration`, { code: 'config_invalid', hint: 'Write 90s, 15m, 24h or 7d.' })
  return Number(digits) * (UNITS[unit] ?? 1)
}

/** The options with those of the bundle, which others cannot contradict. */
export function withBundle({ bundle, ...options }: StrongroomOptions): StrongroomOptions {
  if (bundle === undefined) return options
  const doubled = (['apiKey', 'accessToken', 'privateKey', 'trustAnchor', 'agentId'] as const).filter(
    (name) => options[name] !== undefined,
  )
  if (doubled.length > 0)
    throw new ConfigError(`a bundle brings its own ${doubled.join(', ')}`, {
      code: 'config_conflict',
      hint: 'Give either the bundle or its parts.',
    })
  const { server, apiKey, privateKey, agentId, trustAnchor } = parseBundle(bundle)
  return { server, ...options, apiKey, privateKey, agentId, trustAnchor }
}

export function serverOf(server: string | undefined): string {
  if (server === undefined || server === '')
    throw new ConfigError('the address of the server is missing', {
      missing: ['server'],
      hint: 'Give server: "https://…", or a bundle.',
    })
  const url = httpUrl(server)
  if (!url || url.username || url.search || url.hash)
    throw new ConfigError('the address of the server is not an http address', {
      code: 'config_invalid',
      missing: ['server'],
      hint: 'Write https://host, without a user, query or fragment.',
    })
  return url.href.replace(/\/+$/, '')
}

function originOf(given: string): string {
  const url = httpUrl(given)
  if (url && url.href === `${url.origin}/`) return url.origin
  throw new ConfigError('an origin of an object store cannot be read', {
    code: 'config_invalid',
    missing: ['storageOrigins'],
    hint: 'Write https://host, without a path, user, query or fragment.',
  })
}

function credentialOf(options: StrongroomOptions, isBrowser: boolean): Config['credential'] {
  const { apiKey, accessToken, deviceId, dangerouslyAllowBrowserApiKey = false } = options
  if (apiKey !== undefined && accessToken !== undefined)
    throw new ConfigError('there are an API key and an access token', {
      code: 'config_conflict',
      hint: 'Give one of them.',
    })
  if (apiKey !== undefined && isBrowser && !dangerouslyAllowBrowserApiKey)
    throw new ConfigError('an API key in a browser belongs to everybody who opens the page', {
      code: 'api_key_in_browser',
      hint: 'Use the access token of the person, or set dangerouslyAllowBrowserApiKey if only you open it.',
    })
  const given = async (one: string | (() => string | Promise<string>)): Promise<string> =>
    typeof one === 'function' ? one() : one
  return async () => ({
    ...(apiKey !== undefined && { 'x-api-key': await given(apiKey) }),
    ...(accessToken !== undefined && { authorization: `Bearer ${await given(accessToken)}` }),
    ...(deviceId !== undefined && { 'x-device-installation-id': deviceId }),
  })
}

const LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug']
const NOBODY: Readonly<Record<string, undefined>> = {}
const DAY = '24h'

export function configOf(given: StrongroomOptions, platform: Platform): Config {
  const options = withBundle(given)
  const { logLevel = 'warn', logger, cache, verify = {}, hooks = {}, agentId, userId } = options
  const overrides = options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries }
  const retry: RetryPolicy = { ...DEFAULT_RETRY, ...options.retry, ...overrides }
  return {
    server: serverOf(options.server),
    credential: credentialOf(options, platform.isBrowser),
    privateKey: options.privateKey,
    principal: agentId !== undefined ? `agent:${agentId}` : userId !== undefined ? `user:${userId}` : undefined,
    trustAnchor: options.trustAnchor,
    trust: explained(options.trustStore ?? platform.trustStore(NOBODY)),
    cache: cache === false ? undefined : (cache ?? platform.cache?.(NOBODY)),
    openKeys: platform.openKeys,
    maxStaleMs: durationMs(verify.maxCheckpointAge ?? DAY, 'maxCheckpointAge'),
    witnessWaitMs: durationMs(verify.maxWitnessWait ?? '30s', 'maxWitnessWait'),
    witnessPolicy: verify.witnesses && policyOf(verify.witnesses),
    mode: verify.mode ?? 'strict',
    onNewSigner: verify.onNewSigner,
    publish: platform.publish,
    isUnsent: platform.isUnsent,
    confirmed: new Set(verify.confirmedKeys),
    onRecovery: verify.onRecovery ?? 'accept',
    onEvidence: options.onEvidence ?? platform.onEvidence,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    storageOrigins: (options.storageOrigins ?? []).map(originOf),
    files: platform.files,
    timeoutMs: options.timeout ?? 30_000,
    retry,
    budget: makeBudget(retry.budget),
    hooks,
    log: (level, message) => {
      if (LEVELS.indexOf(level) <= LEVELS.indexOf(logLevel)) logger?.[level](message)
    },
    headers: headersOf(options, platform.isBrowser),
    isBrowser: platform.isBrowser,
  }
}

/** Sent with every request. Browsers name themselves. */
function headersOf({ userAgent, defaultHeaders = {} }: StrongroomOptions, isBrowser: boolean): Record<string, string> {
  const own = `strongroom-sdk/0.1.0${userAgent === undefined ? '' : ` ${userAgent}`}`
  return { ...defaultHeaders, ...(!isBrowser && { 'user-agent': own }) }
}
