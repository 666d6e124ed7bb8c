import { type OrgTrust, orgTrustOf } from '@strongroom/protocol'
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
  readonly trust: {
    list(): Promise<readonly PinnedSigner[]>
    /** A new key of a known principal that a person has confirmed with its owner. Lasts as long as this client. */
    confirm(keyId: string): void
    /** What was refused so far. */
    alarms(): Promise<OrgTrust['alarms']>
    /** A trust anchor with the newest checkpoint as the least that whoever gets it accepts. */
    export(): Promise<string>
  }
}

const log = () => import('./log-verification.ts')

export function transparencyOf(core: Core): Transparency {
  const org = async (): Promise<OrgTrust> => {
    const { data: name } = await core.run({}, async (scope) => (await scope.actor()).org)
    return orgTrustOf(await core.config.trust.read(), name)
  }
  return {
    head: (options) =>
      core.keyed(options, async ({ actor, options: call }) => (await (await log()).verifyHead(actor, call)).head),
    entries: async function* (span, options) {
      yield* (await log()).entries(core, span, options)
    },
    verify: (options = {}) => core.keyed(options, async (place) => (await log()).verifyLog(place, options)),
    trust: {
      list: async () =>
        Object.entries((await org()).signers).map(([keyId, { status, via, verified }]) => ({
          keyId,
          status,
          via,
          verified,
        })),
      confirm: (keyId) => void core.config.confirmed.add(keyId),
      alarms: async () => (await org()).alarms,
      export: async () => (await log()).exportAnchor(core),
    },
  }
}
