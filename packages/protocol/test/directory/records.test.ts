// Catches: keys that a lying server writes into the directory with records that do not bring them in.
// Seen red: each `ensure` of records.ts removed in turn, and `verifyGenesis` without each of its own.
import { beforeEach, describe, expect, it } from 'vitest'
import { type Cap, defaultPolicy, keyAdd, keyRecover, keyRotate, orgGenesis } from '../../src/directory/documents.ts'
import { verifyGenesis } from '../../src/directory/resolve.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import { decodePem, type Identity, openKeys, type Signer } from '../../src/identity/private-keys.ts'
import { type KidState, kidName } from '../../src/log/state.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { refusal } from '../log/refusal.ts'
import { kidStateOf, newIdentity, recover, register, revoke, setPolicy, sign } from '../transition/desk.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, T0, type World } from '../world/world.ts'
import { fullResponse, openDirectory } from './full.ts'

let world: World
let alice: Identity
let bob: Identity
let dave: Identity
let erin: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob, dave } = world.actors)
  erin = await newIdentity('user:ou_erin')
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)

/** A lying server writes the key into its log with this record, and a client looks it up. */
async function codeOf(
  who: { readonly kid: string },
  record: Envelope,
  change: Partial<KidState> = {},
  docs: readonly Envelope[] = [record],
): Promise<ProtocolErrorCode | 'accepted'> {
  const added = world.host.leaves.length
  const rec = documentHash(record)
  const state = { kid: who.kid, status: 'active', added, end: null, rec, capSets: [], ...change } as never
  const d = docs.map(documentHash).sort()
  world.host.appendFalse({ t: 'key.add', d, updates: [{ name: kidName(who.kid), state }] }, docs, world.now)
  const code = await refusal(async () => (await openDirectory(world)).resolve(who.kid))
  return code as ProtocolErrorCode | 'accepted'
}
const add = (who: Signer, caps: readonly Cap[], ...signers: readonly [Signer, ...Signer[]]) =>
  sign(world, keyAdd, { kid: who.kid, key: who.key.bundle, caps } as never, ...signers)

describe('a key.add', () => {
  it('is accepted as the rules make it', async () => {
    expect(await codeOf(erin, await add(erin, ['member'], alice, erin))).toBe('accepted')
  })

  it('is refused without the new key, without the endorser, and with the signature of somebody else', async () => {
    expect(await codeOf(erin, await add(erin, ['member'], alice))).toBe('missing_signature')
    const unsigned = await add(erin, ['member'], alice, erin)
    const only = { ...unsigned, signatures: unsigned.signatures.slice(1) }
    expect(await codeOf(erin, only)).toBe('missing_signature')
  })

  it('is refused if its endorser is not in the directory, came later, or had ended', async () => {
    const { mallory } = world.actors
    expect(await codeOf(erin, await add(erin, ['member'], mallory, erin))).toBe('unknown_signer')
    expect(await codeOf(erin, await add(erin, ['member'], dave, erin), { added: 1 })).toBe('signer_not_active')
    await append(await revoke(world, dave.kid, 'removed'))
    expect(await codeOf(erin, await add(erin, ['member'], dave, erin))).toBe('signer_not_active')
  })

  it('is refused if its endorser had no right to endorse', async () => {
    expect(await codeOf(erin, await add(erin, ['member'], bob, erin))).toBe('endorser_not_admin')
  })

  it('is refused for another key, for caps that do not fit, and for an organisation that is another', async () => {
    expect(await codeOf(erin, await add(dave, ['member'], alice, dave))).toBe('key_substitution')
    expect(await codeOf(erin, await add(erin, ['agent'], alice, erin))).toBe('not_authorised')
    const members = { org: 'org_other', at: T0, kid: erin.kid, key: erin.key.bundle, caps: ['member'] }
    const foreign = await makeDocument(keyAdd, members as never, [alice, erin])
    expect(await codeOf(erin, foreign)).toBe('genesis_mismatch')
  })

  it('of an agent does not make its key that of a person', async () => {
    const material = decodePem(keysFile.keys.mallory)
    const [agent, person] = [await openKeys('agent:ag_mallory', material), await openKeys('user:ou_erin', material)]
    expect(person.key.bundle).toEqual(agent.key.bundle)
    expect(await codeOf(person, await add(agent, ['agent'], alice, agent))).toBe('key_substitution')
  })

  it('is refused if it claims the founding of the organisation', async () => {
    expect(await codeOf(erin, world.genesis, {}, [])).toBe('endorser_not_admin')
    const late = { ...kidStateOf(world, alice.kid), added: 5 }
    expect(await codeOf(alice, world.genesis, late, [])).toBe('endorser_not_admin')
  })

  it('is refused if the server does not show it, or shows no record', async () => {
    const record = await add(erin, ['member'], alice, erin)
    expect(await codeOf(erin, record, {}, [])).toBe('unknown_signer')
  })

  it('is refused under the name of another key', async () => {
    const record = await add(erin, ['member'], alice, erin)
    const state = { ...kidStateOf(world, bob.kid), kid: erin.kid, rec: documentHash(record) } as never
    world.host.appendFalse({ t: 'key.add', d: [], updates: [{ name: kidName(bob.kid), state }] }, [record], world.now)
    expect(await refusal(async () => (await openDirectory(world)).resolve(bob.kid))).toBe('unknown_signer')
  })
})

describe('a key.rotate', () => {
  const rotation = (old: Signer, next: Signer, ...signers: readonly [Signer, ...Signer[]]) =>
    sign(world, keyRotate, { oldKid: old.kid, kid: next.kid, key: next.key.bundle, batch: [] }, ...signers)
  /** Dave’s key ends as the rule would end it, and the new one claims to follow. */
  async function code(next: Identity, record: Envelope, old: Identity = dave, end = world.host.leaves.length + 2) {
    const state = { ...kidStateOf(world, old.kid), status: 'superseded', end } as never
    world.host.appendFalse({ t: 'key.rotate', d: [], updates: [{ name: kidName(old.kid), state }] }, [], world.now)
    return codeOf(next, record)
  }
  let next: Identity
  beforeEach(async () => {
    next = await newIdentity(dave.key.principal)
  })

  it('is accepted as the rules make it', async () => {
    expect(await code(next, await rotation(dave, next, dave, next))).toBe('accepted')
  })

  it('is refused without the old key, without the new key, or by another key of the person', async () => {
    expect(await code(next, await rotation(dave, next, dave))).toBe('missing_signature')
    expect(await code(next, await rotation(dave, next, next))).toBe('missing_signature')
    const signed = await rotation(dave, next, dave, next)
    expect(await code(next, { ...signed, signatures: signed.signatures.slice(1) })).toBe('missing_signature')
  })

  it('is refused across people', async () => {
    expect(await code(erin, await rotation(dave, erin, dave, erin))).toBe('key_substitution')
  })

  it('is refused from a key that is not there, or that ended in another leaf', async () => {
    const ghost = await newIdentity(dave.key.principal)
    expect(await codeOf(next, await rotation(ghost, next, ghost, next))).toBe('unknown_signer')
    const record = await rotation(dave, next, dave, next)
    expect(await code(next, record, dave, world.host.leaves.length + 3)).toBe('signer_not_active')
    expect(await code(next, record, dave, 4)).toBe('signer_not_active')
  })

  it('is refused for another key', async () => {
    expect(await code(next, await rotation(dave, erin, dave, erin))).toBe('key_substitution')
  })
})

describe('a key.recover', () => {
  let next: Identity
  beforeEach(async () => {
    next = await newIdentity(bob.key.principal)
  })
  const code = async (...signers: readonly [Signer, ...Signer[]]) =>
    codeOf(next, await recover(world, next, [bob.kid], 'lost', ...signers))

  it('is accepted with the quorum of the policy of its time', async () => {
    expect(await code(alice, next)).toBe('accepted')
    await append(await setPolicy(world, { recoverQuorum: 2 }, alice))
    expect(await code(alice, next)).toBe('endorser_not_admin')
    expect(await code(alice, dave, next)).toBe('accepted')
  })

  it('is refused without the new key, by people who are no admins, and by admins who had ended', async () => {
    expect(await code(alice)).toBe('missing_signature')
    expect(await code(bob, next)).toBe('endorser_not_admin')
    await append(await revoke(world, dave.kid, 'removed'))
    expect(await code(dave, next)).toBe('endorser_not_admin')
  })

  it('is refused for another person or another key', async () => {
    const members = { oldKids: [], kid: next.kid, key: next.key.bundle, reason: 'lost' as const }
    const other = await sign(world, keyRecover, { ...members, principal: 'user:ou_carol' }, alice, next)
    expect(await codeOf(next, other)).toBe('key_substitution')
    const forErin = await recover(world, erin, [], 'lost', alice, erin)
    expect(await codeOf(next, forErin)).toBe('key_substitution')
  })

  it('counts nobody who came with it or after it', async () => {
    await append(await setPolicy(world, { recoverQuorum: 2 }, alice))
    const added = world.host.leaves.length
    await append(await register(world, erin, ['dir-admin', 'member'], alice))
    const record = await recover(world, next, [bob.kid], 'lost', alice, erin, next)
    expect(await codeOf(next, record, { added })).toBe('endorser_not_admin')
    expect(await codeOf(next, record)).toBe('accepted')
  })
})

describe('a genesis', () => {
  const found = (signers: readonly Identity[], admins: readonly Identity[] = signers) =>
    makeDocument(
      orgGenesis,
      {
        org: ORG,
        at: T0,
        admins: [...admins].sort((a, b) => (a.kid < b.kid ? -1 : 1)).map(({ kid, key }) => ({ kid, key: key.bundle })),
        policy: defaultPolicy(1),
        salt: 'AAAAAAAAAAAAAAAAAAAAAA',
      },
      signers as [Identity, ...Identity[]],
    )
  const code = async (envelope: Envelope, pinned = documentHash(envelope), org = ORG) =>
    refusal(() => verifyGenesis(envelope, pinned, org))

  it('is the pinned one, signed by every founder, none of whom is RSA-only', async () => {
    expect(await code(await found([alice, dave]))).toBe('accepted')
    expect(await code(await found([alice]), documentHash(world.genesis))).toBe('accepted')
    expect(await code(await found([dave]), documentHash(world.genesis))).toBe('genesis_mismatch')
    expect(await code(await found([alice], [alice, dave]))).toBe('missing_signature')
    expect(await code(await found([alice]), undefined, 'org_other')).toBe('genesis_mismatch')
    const rsaOnly = await identityOf('worker', 'user:ou_alice')
    expect(await code(await found([rsaOnly]))).toBe('not_authorised')
  })
})

describe('a chain of endorsements', () => {
  it('is as long as eight, and no longer', async () => {
    let endorser = alice
    const chain: Identity[] = []
    for (let i = 0; i < 10; i++) {
      const next = await newIdentity(`user:ou_admin${i}`)
      await append(await register(world, next, ['dir-admin', 'member'], endorser))
      chain.push(next)
      endorser = next
    }
    const code = async (i: number) =>
      refusal(async () => (await openDirectory(world)).resolve((chain[i] as Identity).kid))
    expect(await code(7)).toBe('accepted')
    expect(await code(8)).toBe('unknown_signer')
    expect(peekDocument(keyAdd, fullResponse(world).records[0] as Envelope).payload.by).toBe(alice.kid)
  })
})
