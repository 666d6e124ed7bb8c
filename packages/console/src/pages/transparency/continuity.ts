import { principalOf } from '@strongroom/protocol'
import type { LogEntry, LogMoment, PinnedSigner } from '@strongroom/sdk'

// Which keys somebody had, one after the other, and what links each to the one before: read off the entries of the log.

export interface Band {
  readonly keyId: string
  readonly principal: string
  readonly from: LogMoment
  until: LogMoment | undefined
  /** What brought it in. */
  readonly via: string
  endedBy: string | undefined
  /** `broken`: the owner had another key before, and that one did not sign this one. */
  readonly link: 'first' | 'rotated' | 'broken'
  readonly previous: string | undefined
  /** What this browser has pinned about it. */
  readonly pinned: PinnedSigner | undefined
}

const KEY = 'kid/'
const ENDS: ReadonlySet<string> = new Set(['key.rotate', 'key.recover', 'key.revoke'])

const momentOf = ({ index, at }: LogEntry): LogMoment => ({ index, at })

export function bandsOf(entries: readonly LogEntry[], pinned: readonly PinnedSigner[]): readonly Band[] {
  const bands = new Map<string, Band>()
  const pins = new Map(pinned.map((signer) => [signer.keyId, signer]))
  for (const entry of entries) {
    const keys = entry.subjects.filter((name) => name.startsWith(KEY)).map((name) => name.slice(KEY.length))
    const ended = keys.filter((keyId) => bands.has(keyId) && ENDS.has(entry.type))
    for (const keyId of ended) {
      const band = bands.get(keyId)
      if (band && !band.until) Object.assign(band, { until: momentOf(entry), endedBy: entry.type })
    }
    for (const keyId of keys.filter((one) => !bands.has(one)))
      bands.set(keyId, startOf(keyId, entry, [...bands.values()], pins.get(keyId)))
  }
  return [...bands.values()]
}

function startOf(keyId: string, entry: LogEntry, known: readonly Band[], pinned: PinnedSigner | undefined): Band {
  const principal = principalOf(keyId)
  const previous = known.findLast((band) => band.principal === principal)?.keyId
  const link = previous === undefined ? 'first' : entry.type === 'key.rotate' ? 'rotated' : 'broken'
  return {
    keyId,
    principal,
    from: momentOf(entry),
    until: undefined,
    via: entry.type,
    endedBy: undefined,
    link,
    previous,
    pinned,
  }
}

/** By owner, in the order they came in. */
export function byPrincipal(bands: readonly Band[]): readonly (readonly [string, readonly Band[]])[] {
  const grouped = new Map<string, Band[]>()
  for (const band of bands) grouped.set(band.principal, [...(grouped.get(band.principal) ?? []), band])
  return [...grouped]
}
