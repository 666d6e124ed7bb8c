// Catches: a founder who did not sign, RSA-only founders, unreachable quorums, a second genesis.
// Seen red: `ensureFounders` not called; `draft.index === 0` not asked; founders given the caps of people where they are agents.
import { beforeAll, describe, expect, it } from 'vitest'
import { capsAt } from '../../src/directory/caps.ts'
import { defaultPolicy, keyAdd, orgGenesis, type Policy } from '../../src/directory/documents.ts'
import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { kidName, POLICY_NAME } from '../../src/log/state.ts'
import { openDraft } from '../../src/transition/draft.ts'
import { leafOf, makeLedger } from '../../src/transition/ledger.ts'
import { transition } from '../../src/transition/transition.ts'
import { refusal } from '../log/refusal.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, T0, type World } from '../world/world.ts'
import { newIdentity, refuses, salt } from './desk.ts'

let world: World
let alice: Identity
let dave: Identity
beforeAll(async () => {
  world = await openWorld()
  ;({ alice, dave } = world.actors)
})

const found = (admins: readonly Identity[], signers: readonly Identity[], policy: Partial<Policy> = {}) =>
  makeDocument(
    orgGenesis,
    {
      org: ORG,
      at: T0,
      admins: [...admins].sort((a, b) => (a.kid < b.kid ? -1 : 1)).map(({ kid, key }) => ({ kid, key: key.bundle })),
      policy: { ...defaultPolicy(admins.length), ...policy },
      salt: salt(),
    },
    signers as [Identity, ...Identity[]],
  )
const begin = (docs: readonly Envelope[], org = ORG, index = 0) => transition(makeLedger(org), index, { docs, at: T0 })
const codeOf = (docs: readonly Envelope[], org = ORG, index = 0) => refusal(() => begin(docs, org, index))

describe('a genesis', () => {
  it('writes the policy and one active key for each founder, and nothing else', async () => {
    const genesis = await found([alice, dave], [alice, dave])
    const rec = documentHash(genesis)
    const founder = ({ kid }: Identity) => ({
      name: kidName(kid),
      state: { kid, status: 'active', added: 0, end: null, rec, capSets: [] },
    })
    expect(await begin([genesis])).toEqual({
      t: 'org.genesis',
      d: [rec],
      updates: [
        founder(alice),
        founder(dave),
        { name: POLICY_NAME, state: { policyVersion: 1, policyHash: rec, indexes: [0] } },
      ],
    })
  })

  it('is signed by every founder', async () => {
    expect(await codeOf([await found([alice, dave], [alice])])).toBe('missing_signature')
  })

  it('has at least one founder', async () => {
    expect(await codeOf([await found([], [alice], { recoverQuorum: 1 })])).toBe('unknown_signer')
  })

  it('counts a person once: two keys of one founder are refused', async () => {
    const second = await newIdentity(alice.key.principal)
    expect(await codeOf([await found([alice, second], [alice, second])])).toBe('bad_transition')
  })

  it('asks for no quorum that its founders cannot reach', async () => {
    expect(await codeOf([await found([alice], [alice], { dirQuorum: 2 })])).toBe('bad_transition')
    expect(await codeOf([await found([alice], [alice], { recoverQuorum: 2 })])).toBe('bad_transition')
  })

  it('is not founded on an RSA-only key', async () => {
    const rsaOnly = await identityOf('worker', 'user:ou_alice')
    expect(await codeOf([await found([rsaOnly], [rsaOnly])])).toBe('not_authorised')
  })

  it('holds its founders to its own key length', async () => {
    expect(await codeOf([await found([alice], [alice], { minRsaBits: 3072 })])).toBe('weak_key')
    const big = await identityOf('big', 'user:ou_alice')
    expect((await begin([await found([big], [big], { minRsaBits: 3072 })])).t).toBe('org.genesis')
  })

  it('is of the organisation whose log it begins', async () => {
    expect(await codeOf([await found([alice], [alice])], 'org_other')).toBe('genesis_mismatch')
  })

  it('stands at index 0 and nowhere else', async () => {
    expect(await codeOf([await found([alice], [alice])], ORG, 1)).toBe('bad_transition')
    await refuses(world, [await found([alice], [alice])], 'bad_transition')
  })

  it('comes before every other act', async () => {
    const add = await makeDocument(
      keyAdd,
      { org: ORG, at: T0, kid: dave.kid, key: dave.key.bundle, caps: ['member'] },
      [alice, dave],
    )
    expect(await codeOf([add])).toBe('bad_transition')
  })

  it('makes an agent that founds a directory admin of its own type, so that it can rotate', async () => {
    const agent = await newIdentity('agent:ag_founder')
    const ledger = makeLedger(ORG)
    const genesis = await found([agent], [agent])
    const applied = await transition(ledger, 0, { docs: [genesis], at: T0 })
    ledger.accept(applied, [genesis], T0, leafOf(ledger.map, applied, T0).bytes)
    expect(await capsAt(openDraft(ledger, 1, T0).directory, agent.kid, 1)).toEqual(new Set(['agent', 'dir-admin']))
  })
})
