import type { Evidence, Identity, Notice } from '@strongroom/protocol'
import type { Client } from '../client.ts'
import type { CacheStore } from './cache.ts'
import { type Memory, makeMemory } from './memory.ts'
import type { TrustKeeper } from './trust.ts'

/** How patient and how strict an actor is. */
export interface ActorPolicy {
  /** With witnesses: the age of the newest witnessed checkpoint that is still accepted. */
  readonly maxStaleMs: number
  /** How long a read waits for witnesses to sign what was just written. */
  readonly witnessWaitMs: number
  /** `warn`: what too few witnesses have seen is taken all the same, with a notice. */
  readonly mode: 'strict' | 'warn'
  /** Whose cosignatures count, in place of those that the trust anchor names; C2SP tlog-policy text. */
  readonly witnessPolicy?: string
  /** How often a change is put on top of a newer head before giving up. */
  readonly maxRebases: number
  /** How often a change is sent again, with the same idempotency key, when no answer came. */
  readonly maxResends: number
  /** After this time without an answer a change is sent again. */
  readonly timeoutMs: number
  /** New keys of known principals that a person has confirmed out of band. */
  readonly confirmed: ReadonlySet<string>
  /** What to do with a log that was restored, once the statement of the directory admins is proven. */
  readonly onRecovery: OnRecovery
  /** Takes what compromised keys signed last, to sign it anew; see attest.ts. */
  readonly isReviewing?: true
}

/** A proven recovery: what is kept of the log that was seen, and by whose statement. */
export interface RecoveredLog {
  readonly docHash: string
  readonly keptSize: number
  /** The largest log that this client has seen. */
  readonly seenSize: number
  readonly reason: string
}

export type OnRecovery = 'accept' | 'refuse' | ((recovery: RecoveredLog) => boolean | Promise<boolean>)

const DEFAULT_POLICY: ActorPolicy = {
  maxStaleMs: 86_400_000,
  witnessWaitMs: 30_000,
  mode: 'strict',
  maxRebases: 8,
  maxResends: 4,
  timeoutMs: 30_000,
  confirmed: new Set(),
  onRecovery: 'accept',
}

/** What became of an answer. */
export interface Verification {
  /** The vault it is about, if it is about one. */
  readonly subject?: string
  readonly ok: boolean
  /** What it was refused with. */
  readonly code?: string
  readonly ms: number
}

/** A new key of a known principal that nothing links to the keys it had. */
export interface UnlinkedSigner {
  readonly keyId: string
  readonly known: readonly string[]
}

/** Somebody with keys, a connection and a memory: everything the engine does, it does for one of these. */
export interface Actor {
  readonly client: Client
  readonly org: string
  readonly identity: Identity
  readonly trust: TrustKeeper
  readonly policy: ActorPolicy
  readonly memory: Memory
  readonly cache: CacheStore | undefined
  now(): number
  /** An answer was refused. A text it gives back, such as the name of a file, is kept with the alarm. */
  onEvidence?: ((evidence: Evidence) => unknown) | undefined
  onVerify?: ((verification: Verification) => void) | undefined
  /** Whether a person has confirmed it with its owner; the key then counts as confirmed. */
  onNewSigner?: ((signer: UnlinkedSigner) => Promise<boolean>) | undefined
  /** Legitimate, but people should hear of it. */
  onNotice?: ((notice: Notice) => void) | undefined
}

export interface ActorOptions
  extends Pick<Actor, 'client' | 'org' | 'identity' | 'trust' | 'onEvidence' | 'onNotice' | 'onNewSigner'> {
  readonly policy?: Partial<ActorPolicy>
  readonly cache?: CacheStore | undefined
  readonly now?: () => number
}

export const makeActor = ({ policy, cache, now = Date.now, ...given }: ActorOptions): Actor => ({
  ...given,
  policy: { ...DEFAULT_POLICY, ...policy },
  cache,
  now,
  memory: makeMemory(),
})

/** The same actor with other keys; what was remembered of vaults stays with the old one. */
export const withIdentity = (actor: Actor, identity: Identity): Actor => ({ ...actor, identity, memory: makeMemory() })

/** What every function of the engine takes last. */
export interface CallerOptions {
  readonly signal?: AbortSignal | undefined
}
