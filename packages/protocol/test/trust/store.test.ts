// Catches: a store that is written and cannot be read again, that is read by a client that does not understand it, or in which
// a second anchor quietly takes the place of the first.
// Seen red: the version not compared; `serialiseTrustStore` without its check; log keys of 512 characters at most; witness
// policy and log keys not compared by `pinAnchor`; alarms kept without bound.
import { beforeAll, describe, expect, it } from 'vitest'
import { documentHash } from '../../src/identity/document.ts'
import type { TrustAnchor } from '../../src/trust/anchor.ts'
import { remember } from '../../src/trust/remember.ts'
import {
  EMPTY_TRUST_STORE,
  logPinOf,
  orgTrustOf,
  parseTrustStore,
  pinAnchor,
  recordAlarm,
  serialiseTrustStore,
  type TrustStore,
} from '../../src/trust/store.ts'
import { refusal } from '../log/refusal.ts'
import { ORIGIN } from '../world/log-host.ts'
import { ORG, openWorld, type World } from '../world/world.ts'

let world: World
let full: TrustStore
let anchor: TrustAnchor
beforeAll(async () => {
  world = await openWorld()
  anchor = {
    org: ORG,
    genesis: documentHash(world.genesis),
    origin: ORIGIN,
    logVkeys: [world.host.logVkey],
    tlogPolicy: world.host.tlogPolicy,
  }
  const heads = [await world.head(world.prod)]
  const { directory } = (heads[0] as (typeof heads)[0]).vault
  full = remember(world.fresh(), { directory, heads, now: world.now }).store
})
const codeOf = (json: string) => refusal(() => parseTrustStore(json))
const changed = (change: (org: Record<string, unknown>) => void): string => {
  const copy = JSON.parse(serialiseTrustStore(full))
  change(copy.orgs[ORG])
  return JSON.stringify(copy)
}

describe('a trust store', () => {
  it('is written as people can read it, and read as it was written', () => {
    const text = serialiseTrustStore(full)
    expect(text.endsWith('}\n')).toBe(true)
    expect(parseTrustStore(text)).toEqual(full)
    expect(parseTrustStore(serialiseTrustStore(EMPTY_TRUST_STORE))).toEqual(EMPTY_TRUST_STORE)
  })

  it('of another version is refused and never guessed at', async () => {
    for (const version of [0, 2, '1', null])
      expect(await codeOf(JSON.stringify({ version, orgs: {} }))).toBe('malformed')
    expect(await codeOf('{"orgs":{}}')).toBe('malformed')
  })

  it('that is broken, or says more or less than it may, is refused', async () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{',
      '{"version":1}',
      '{"version":1,"orgs":[]}',
      '{"version":1,"orgs":{},"x":1}',
    ])
      expect(await codeOf(text)).toBe('malformed')
    expect(await codeOf(changed(() => undefined))).toBe('accepted')
    expect(await codeOf(changed((org) => delete org.minimum))).toBe('malformed')
    expect(await codeOf(changed((org) => Object.assign(org, { more: 1 })))).toBe('malformed')
    expect(await codeOf(changed((org) => Object.assign(org, { mode: 'trusting' })))).toBe('malformed')
    expect(await codeOf(changed((org) => Object.assign(org, { vaults: { nowhere: {} } })))).toBe('malformed')
    expect(await codeOf(changed((org) => Object.assign(org, { signers: { bob: {} } })))).toBe('malformed')
  })

  it('may say when something was last seen, and need not', async () => {
    const seen = (seenAt: unknown) => codeOf(changed((org) => Object.assign(org, { seenAt })))
    expect(await seen({ ['A'.repeat(43)]: 1 })).toBe('accepted')
    expect(await codeOf(changed((org) => delete org.seenAt))).toBe('accepted')
    for (const wrong of [[], null, { ['A'.repeat(43)]: '1' }, { nowhere: 1 }])
      expect(await seen(wrong)).toBe('malformed')
  })

  it('is not written if it could not be read again', async () => {
    const org = orgTrustOf(full, ORG)
    const broken: TrustStore = { ...full, orgs: { [ORG]: { ...org, origin: 'x'.repeat(257) } } }
    expect(await refusal(() => serialiseTrustStore(broken))).toBe('malformed')
  })

  it('holds whatever an anchor may bring: log keys of the post-quantum kind too', () => {
    const large = { ...anchor, logVkeys: [`log+00000000+${'A'.repeat(2500)}`] }
    const pinned = pinAnchor(EMPTY_TRUST_STORE, large, 'pinned')
    expect(parseTrustStore(serialiseTrustStore(pinned))).toEqual(pinned)
  })

  it('keeps the last thousand alarms, cut to what it can hold, and no pin changes by them', () => {
    let store = full
    for (let i = 0; i < 1003; i++) store = recordAlarm(store, ORG, { at: i, code: 'log_fork', detail: 'x' })
    store = recordAlarm(store, ORG, { at: 1003, code: 'log_fork', detail: `${'x'.repeat(999)}\u{1f600}` })
    const { alarms, ...rest } = orgTrustOf(store, ORG)
    expect(alarms).toHaveLength(1000)
    expect(alarms[0]?.at).toBe(4)
    expect(alarms.at(-1)?.detail).toHaveLength(1000)
    const { alarms: _none, ...before } = orgTrustOf(full, ORG)
    expect(rest).toEqual(before)
    expect(parseTrustStore(serialiseTrustStore(store))).toEqual(store)
  })

  it('knows nobody by the names that objects have of themselves', async () => {
    for (const org of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(await refusal(() => orgTrustOf(full, org))).toBe('genesis_mismatch')
      const pinned = pinAnchor(full, { ...anchor, org }, 'pinned')
      expect(orgTrustOf(pinned, org).genesis).toBe(anchor.genesis)
      expect(parseTrustStore(serialiseTrustStore(pinned))).toEqual(pinned)
    }
  })
})

describe('an anchor', () => {
  it('pins an organisation that was not known, without having seen anything of it', () => {
    expect(orgTrustOf(pinAnchor(EMPTY_TRUST_STORE, anchor, 'tofu'), ORG)).toEqual({
      genesis: anchor.genesis,
      mode: 'tofu',
      origin: ORIGIN,
      logVkeys: anchor.logVkeys,
      tlogPolicy: anchor.tlogPolicy,
      policyVersion: 0,
      checkpoint: null,
      checkpointAt: 0,
      minimum: null,
      signers: {},
      principals: {},
      vaults: {},
      projects: {},
      alarms: [],
    })
  })

  it('that is the same again changes nothing, and forgets nothing', () => {
    expect(pinAnchor(full, anchor, 'pinned')).toBe(full)
    const twoKeys = pinAnchor(EMPTY_TRUST_STORE, { ...anchor, logVkeys: ['a', 'b'] }, 'pinned')
    expect(pinAnchor(twoKeys, { ...anchor, logVkeys: ['b', 'a'] }, 'pinned')).toBe(twoKeys)
  })

  it('that differs in anything pinned is a mismatch and not an update', async () => {
    const other: readonly Partial<TrustAnchor>[] = [
      { genesis: documentHash({ payload: 'AAAA', payloadType: '', signatures: [] }) },
      { origin: 'log.other.test/1' },
      { logVkeys: ['other+00000000+AAAA'] },
      { logVkeys: [...anchor.logVkeys, 'other+00000000+AAAA'] },
      { tlogPolicy: 'quorum none\n' },
    ]
    for (const change of other)
      expect(await refusal(() => pinAnchor(full, { ...anchor, ...change }, 'pinned'))).toBe('genesis_mismatch')
  })

  it('leaves other organisations alone', () => {
    const both = pinAnchor(full, { ...anchor, org: 'org_other' }, 'pinned')
    expect(orgTrustOf(both, ORG)).toBe(orgTrustOf(full, ORG))
    expect(orgTrustOf(both, 'org_other').checkpoint).toBeNull()
  })
})

describe('what the next read is held against', () => {
  it('is the newest checkpoint, else the minimum of the anchor, else nothing', async () => {
    const minimum = { size: 3, root: documentHash(world.genesis) }
    const fresh = orgTrustOf(pinAnchor(EMPTY_TRUST_STORE, { ...anchor, minimum }, 'pinned'), ORG)
    expect(logPinOf(ORG, fresh).seen?.size).toBe(3)
    expect(logPinOf(ORG, { ...fresh, minimum: null }).seen).toBeNull()
    const seen = logPinOf(ORG, orgTrustOf(full, ORG))
    expect(seen).toMatchObject({ org: ORG, origin: ORIGIN, logKeys: anchor.logVkeys })
    expect(seen.seen?.size).toBe((await world.head(world.prod)).vault.directory.view.checkpoint.size)
  })
})
