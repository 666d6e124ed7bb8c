import {
  EMPTY_TRUST_STORE,
  type OrgTrust,
  orgTrustOf,
  ProtocolError,
  recordAlarm,
  type TrustStore,
} from '@strongroom/protocol'
import { expect, it } from 'vitest'
import { indexedDbTrust } from '../../src/engine/trust-indexeddb.ts'

// Catches: a compare-and-set that does not compare, so that two tabs overwrite each other.

const ORG = 'org_test'
const ORG_TRUST: OrgTrust = {
  genesis: 'A'.repeat(43),
  mode: 'pinned',
  origin: 'log.example/1',
  logVkeys: [],
  tlogPolicy: '',
  policyVersion: 0,
  checkpoint: null,
  checkpointAt: 0,
  minimum: null,
  signers: {},
  principals: {},
  vaults: {},
  projects: {},
  alarms: [],
  seenAt: { ['A'.repeat(43)]: 1 },
}
const WITH_ORG: TrustStore = { version: 1, orgs: { [ORG]: ORG_TRUST } }
const alarm = (detail: string) => (store: TrustStore) => recordAlarm(store, ORG, { at: 1, code: 'malformed', detail })

if (typeof indexedDB === 'undefined') {
  it('says so where there is no IndexedDB', async () => {
    const trust = indexedDbTrust()
    await expect(trust.read()).rejects.toThrow('no IndexedDB')
    await expect(trust.update((store) => store)).rejects.toThrow('no IndexedDB')
  })
} else {
  it('loses no update of two connections at once, and keeps the store when a change refuses', async () => {
    const name = `trust-${crypto.randomUUID()}`
    const [first, second] = [indexedDbTrust(name), indexedDbTrust(name)]
    expect(await first.read()).toEqual(EMPTY_TRUST_STORE)
    await first.update(() => WITH_ORG)
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? first : second).update(async (store) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
          return alarm(String(i))(store)
        }),
      ),
    )
    const refused = second.update(() => {
      throw new ProtocolError('log_fork', 'no')
    })
    await expect(refused).rejects.toMatchObject({ code: 'log_fork' })
    const { alarms, seenAt } = orgTrustOf(await indexedDbTrust(name).read(), ORG)
    expect(seenAt).toEqual(ORG_TRUST.seenAt)
    expect(new Set(alarms.map(({ detail }) => detail)).size).toBe(40)
  })
}
