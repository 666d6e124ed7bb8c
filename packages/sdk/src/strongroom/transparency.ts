import type { Cap, Envelope, OrgTrust, Policy } from '@strongroom/protocol'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'

export interface Checkpoint {
  readonly origin: string
  readonly treeSize: number
  readonly rootHash: string
  /** When its last entry was made, by the clock of the log. */
  readonly timestamp: Date
  /** As it was signed: a C2SP note. */
  readonly note: string
}

export interface LogEntry {
  readonly index: number
  readonly type: string
  /** The states it changed, such as `vault/…` or `kid/…`. */
  readonly subjects: readonly string[]
  readonly at: Date
  readonly leafHash: string
}

export interface VerifyStep {
  readonly step: 'checkpoint-signature' | 'consistency' | 'signer-directory' | 'inclusion' | 'replay'
  readonly detail: string
}

export interface SignerChange {
  readonly keyId: string
  /** The entry that brought it in. */
  readonly logIndex: number
  readonly at: Date
}

export interface VerifyReport {
  readonly head: Checkpoint
  /** What this client had seen before; absent at first contact. */
  readonly previous?: { readonly treeSize: number; readonly rootHash: string }
  readonly steps: readonly VerifyStep[]
  /** Keys that came in since. */
  readonly newSigners: readonly SignerChange[]
  readonly durationMs: number
}

export interface PinnedSigner {
  readonly keyId: string
  readonly status: string
  /** How it came in, and how this client knows it. */
  readonly via: string
  readonly verified: string
}

/** An entry of the log, and when it was made by the log's clock. */
export interface LogMoment {
  readonly index: number
  readonly at: Date
}

export interface ExposedKey {
  readonly keyId: string
  readonly status: 'active' | 'superseded' | 'removed' | 'compromised'
  readonly added: LogMoment
  readonly ended: LogMoment | null
}

/** A vault key was wrapped for a key. */
export interface ExposedGrant {
  readonly keyId: string
  readonly keyVersion: number
  readonly from: LogMoment
  /** When the server stopped handing it out; whoever had fetched it has it still. */
  readonly until: LogMoment | null
}

export interface ExposedItem {
  readonly itemId: string
  readonly name: string
  readonly status: 'active' | 'archived'
  /** When and by which key it was last written, re-encryption included. */
  readonly changedAt: Date
  readonly changedBy: string
  readonly fields: readonly {
    readonly fieldId: string
    readonly label: string
    readonly keyVersion: number
    /** The ciphertext of now is under a vault key that was granted: its value is known to whoever had both. */
    readonly isExposed: boolean
  }[]
  readonly attachments: readonly {
    readonly assetId: string
    readonly keyVersion: number
    readonly isExposed: boolean
  }[]
}

export interface ExposedVault {
  readonly vaultId: string
  /** Null, like its items, where the caller cannot read the vault. */
  readonly name: string | null
  readonly grants: readonly ExposedGrant[]
  /** Of the vault key in use. */
  readonly keyVersion: number
  /** The vault key in use was granted once: rotate it. */
  readonly knowsCurrentKey: boolean
  readonly rotationDue: Date | null
  readonly items: readonly ExposedItem[] | null
}

export interface Exposure {
  readonly subject: string
  /** The log it was computed from, to its last entry. */
  readonly head: Checkpoint
  readonly keys: readonly ExposedKey[]
  /** Every vault that was ever granted. */
  readonly vaults: readonly ExposedVault[]
  /** What no log can say. */
  readonly limits: readonly string[]
}

/** The build of the console that the policy of the organisation names. */
export interface NamedConsole {
  /** The hash over the list of its files, as `build.json` has it. */
  readonly build: string
  /** The entry of the log that set this policy. */
  readonly entry: number
  readonly policyVersion: number
}

/** How many directory administrators have to sign. */
export interface Quorums {
  /** A policy, what a key may sign in the directory, and a new key that may. */
  readonly directory: number
  /** The recovery of a key or of a restored log. */
  readonly recovery: number
}

export interface LoggedQuorums extends Quorums {
  /** The entry of the log that set this policy. */
  readonly entry: number
  readonly policyVersion: number
  /** False where a compromised key signed the policy last: nothing goes by it until it is signed anew. */
  readonly isConfirmed: boolean
}

/** The next policy on its way to enough signatures. */
export interface QuorumStatement {
  /** To be handed on as JSON; it is no secret. */
  readonly statement: Envelope
  readonly from: Quorums
  readonly to: Quorums
  /** The whole policy, where a compromised key signed the one in force: all of it is signed anew, and to be looked at; else null. */
  readonly anew: Policy | null
  readonly signatures: number
  readonly needed: number
  /** So many people could sign, by the verified log. */
  readonly administrators: number
}

/** What a key may sign in the directory. */
export interface KeyCaps {
  readonly keyId: string
  readonly caps: readonly Cap[]
  /** The entry of the log that says so. */
  readonly entry: number
  /** False where a compromised key vouched for it, or gave it its caps, and nobody has confirmed it since: nothing it signs counts. */
  readonly isConfirmed: boolean
}

/** What a key may sign next, on its way to enough signatures. */
export interface CapsStatement {
  /** To be handed on as JSON; it is no secret. */
  readonly statement: Envelope
  readonly keyId: string
  readonly from: readonly Cap[]
  readonly to: readonly Cap[]
  /** Whether the key counts now. */
  readonly isConfirmed: boolean
  readonly signatures: number
  readonly needed: number
}

export interface VerifyOptions extends RequestOptions {
  /** Every change is checked against the rules as well, with its documents. For who may read all of them. */
  readonly replay?: boolean
  readonly onStep?: (step: VerifyStep) => void
}

export interface Transparency {
  /** The newest checkpoint, verified against what was seen before, and remembered. */
  head(options?: RequestOptions): ApiPromise<Checkpoint>
  /** Entries as the server serves them; `verify` proves that they are the log. */
  entries(params?: { readonly from?: number; readonly to?: number }, options?: RequestOptions): AsyncIterable<LogEntry>
  /** Refuses with a VerificationError, or the log is the one this client knows and its entries are all there. */
  verify(options?: VerifyOptions): ApiPromise<VerifyReport>
  /** What the keys of a principal, or one key, could ever decrypt: from the whole log, which is verified for it. */
  exposure(subject: string, options?: RequestOptions): ApiPromise<Exposure>
  /** All keys a principal ever had, from the whole log, which is verified for it. */
  keys(principal: string, options?: RequestOptions): ApiPromise<readonly ExposedKey[]>
  /** Which console people of the organisation shall be served; null where the policy names none. Verified. */
  console(options?: RequestOptions): ApiPromise<NamedConsole | null>
  /** Signs the policy that names this build, unless it does already: for directory administrators. */
  recordConsole(build: string, options?: RequestOptions): ApiPromise<NamedConsole & { readonly isNew: boolean }>
  readonly quorums: {
    /** Verified, for everybody. */
    show(options?: RequestOptions): ApiPromise<LoggedQuorums>
    /** Makes the next policy and signs it; null where it says so already. Refuses more signatures than there are administrators. */
    propose(to: Partial<Quorums>, options?: RequestOptions): ApiPromise<QuorumStatement | null>
    /** What a statement would change. Refuses one that does not follow the policy in force, or that changes anything else. */
    examine(statement: unknown, options?: RequestOptions): ApiPromise<QuorumStatement>
    countersign(statement: unknown, options?: RequestOptions): ApiPromise<QuorumStatement>
    /** By whoever made it, once there are enough signatures. */
    send(statement: unknown, options?: RequestOptions): ApiPromise<LoggedQuorums>
    /** Refuses where, without this administrator, a quorum that can be met now could not be met any more. From the whole log. */
    ensureWithout(principal: string, options?: RequestOptions): ApiPromise<void>
  }
  readonly caps: {
    /** Of the active keys of a principal, verified, for everybody. */
    show(principal: string, options?: RequestOptions): ApiPromise<readonly KeyCaps[]>
    /**
     * Says what a key may sign beside being a member or an agent, and confirms it, and signs that; null where nothing would change. Refuses to
     * take the last administrator that a quorum needs.
     */
    propose(keyId: string, caps: readonly Cap[], options?: RequestOptions): ApiPromise<CapsStatement | null>
    /** What a statement would change. Refuses one that does not follow what is in force. */
    examine(statement: unknown, options?: RequestOptions): ApiPromise<CapsStatement>
    countersign(statement: unknown, options?: RequestOptions): ApiPromise<CapsStatement>
    /** By whoever made it, once there are enough signatures. */
    send(statement: unknown, options?: RequestOptions): ApiPromise<KeyCaps>
  }
  readonly trust: {
    list(): Promise<readonly PinnedSigner[]>
    /** A new key of a known principal that a person has confirmed with its owner. Lasts as long as this client. */
    confirm(keyId: string): void
    /** The same, and noted in the trust store for a key that is known there. */
    pin(keyId: string): Promise<void>
    /** Takes it back: the key counts as what the directory makes of it, and a new key of its owner is refused again. */
    unpin(keyId: string): Promise<void>
    /** What was refused so far. */
    alarms(): Promise<OrgTrust['alarms']>
    /** A trust anchor with the newest checkpoint as the least that whoever gets it accepts. */
    export(): Promise<string>
  }
}

const log = () => import('./log-verification.ts')
const exposures = () => import('./exposure.ts')
const consoles = () => import('./named-console.ts')
const policies = () => import('./quorums.ts')
const caps = () => import('./caps.ts')
const pinned = () => import('./pinned.ts')

export function transparencyOf(core: Core): Transparency {
  return {
    head: (options) => core.keyed(options, async (place) => (await log()).newestHead(place)),
    entries: async function* (span, options) {
      yield* (await log()).entries(core, span, options)
    },
    verify: (options = {}) => core.keyed(options, async (place) => (await log()).verifyLog(place, options)),
    exposure: (one, options) => core.keyed(options, async (place) => (await exposures()).exposureOf(place, one)),
    keys: (one, options) => core.keyed(options, async (place) => (await exposures()).keysOf(place, one)),
    console: (options) => core.keyed(options, async (place) => (await consoles()).namedConsole(place)),
    recordConsole: (one, options) => core.keyed(options, async (place) => (await consoles()).recordConsole(place, one)),
    quorums: {
      show: (options) => core.keyed(options, async (place) => (await policies()).quorums(place)),
      propose: (one, options) => core.keyed(options, async (place) => (await policies()).propose(place, one)),
      examine: (one, options) => core.keyed(options, async (place) => (await policies()).examine(place, one)),
      countersign: (one, options) => core.keyed(options, async (place) => (await policies()).countersign(place, one)),
      send: (one, options) => core.keyed(options, async (place) => (await policies()).send(place, one)),
      ensureWithout: (one, options) =>
        core.keyed(options, async (place) => (await policies()).ensureWithout(place, one)),
    },
    caps: {
      show: (one, options) => core.keyed(options, async (place) => (await caps()).capsOf(place, one)),
      propose: (one, to, options) => core.keyed(options, async (place) => (await caps()).propose(place, one, to)),
      examine: (one, options) => core.keyed(options, async (place) => (await caps()).examine(place, one)),
      countersign: (one, options) => core.keyed(options, async (place) => (await caps()).countersign(place, one)),
      send: (one, options) => core.keyed(options, async (place) => (await caps()).send(place, one)),
    },
    trust: {
      list: async () => (await pinned()).pinnedSigners(core),
      confirm: (keyId) => void core.config.confirmed.add(keyId),
      pin: async (keyId) => (await pinned()).pin(core, keyId),
      unpin: async (keyId) => (await pinned()).unpin(core, keyId),
      alarms: async () => (await (await pinned()).trustOf(core)).alarms,
      export: async () => (await log()).exportAnchor(core),
    },
  }
}
