// Catches: rotations that lose or invent grants, change the principal, lack one of the two keys or carry caps too far.
// Seen red: a batch held against the live grants in one direction only; `by`, `to`, vault and version of a wrap not compared;
// `checkCaps` not called; the old key not ended; the new key’s signature not required.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keyRotate } from '../../src/directory/documents.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { grantName, kidName } from '../../src/log/state.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import type { Dek } from '../../src/values/dek.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { refusal } from '../log/refusal.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { apply, commit, dekOf, kidStateOf, newIdentity, refuses, register, setCaps, sign, updatesOf } from './desk.ts'

let world: World
let erin: Identity
beforeAll(async () => {
  erin = await newIdentity('user:ou_erin')
})
beforeEach(async () => {
  world = await openWorld()
})

describe('key.rotate', () => {
  const rotated = async (held: readonly Dek[], old: Identity, next: Identity) => {
    const { event, replacements } = await rotateKey({ org: ORG, at: world.now, held }, old, next)
    return { event, replacements, docs: [event, ...replacements] }
  }
  const both = () => [dekOf(world, world.prod), dekOf(world, world.staging)]

  it('supersedes the old key, makes the new one active, moves every grant and ends the old ones', async () => {
    const { deploy, deployNext } = world.actors
    const index = world.host.leaves.length
    const { event, replacements, docs } = await rotated(both(), deploy, deployNext)
    expect((await apply(world, docs)).t).toBe('key.rotate')
    expect(await updatesOf(world, docs)).toEqual({
      [kidName(deploy.kid)]: { ...kidStateOf(world, deploy.kid), status: 'superseded', end: index + 1 },
      [kidName(deployNext.kid)]: {
        kid: deployNext.kid,
        status: 'active',
        added: index,
        end: null,
        rec: documentHash(event),
        capSets: [],
      },
      [grantName(world.prod, deploy.kid, 1)]: { wrapHash: '', index },
      [grantName(world.staging, deploy.kid, 1)]: { wrapHash: '', index },
      [grantName(world.prod, deployNext.kid, 1)]: { wrapHash: documentHash(replacements[0] as Envelope), index },
      [grantName(world.staging, deployNext.kid, 1)]: { wrapHash: documentHash(replacements[1] as Envelope), index },
    })
  })

  it('moves both versions of a vault that is draining', async () => {
    const { deploy, deployNext } = world.actors
    const first = dekOf(world)
    await commit(world, { rotate: 'scheduled' })
    const held = [first, dekOf(world), dekOf(world, world.staging)]
    const updates = await updatesOf(world, (await rotated(held, deploy, deployNext)).docs)
    for (const version of [1, 2]) {
      expect(updates[grantName(world.prod, deployNext.kid, version)]).toMatchObject({ index: world.host.leaves.length })
      expect(updates[grantName(world.prod, deploy.kid, version)]).toMatchObject({ wrapHash: '' })
    }
    const { docs } = await rotated([dekOf(world), dekOf(world, world.staging)], deploy, deployNext)
    await refuses(world, docs, 'incomplete_batch')
  })

  it('names what a batch lacks and what it has too much', async () => {
    const { deploy, deployNext } = world.actors
    const { docs } = await rotated(both().slice(0, 1), deploy, deployNext)
    const entry = (vaultId: string) => `${vaultId}/0000000001`
    await refuses(world, docs, 'incomplete_batch')
    await expect(apply(world, docs)).rejects.toMatchObject({
      details: { missing: [entry(world.staging)], extra: [] },
    })
    const { dave } = world.actors
    const daveNext = await newIdentity(dave.key.principal)
    const extra = await rotated(both().slice(0, 1), dave, daveNext)
    await refuses(world, extra.docs, 'incomplete_batch')
    await expect(apply(world, extra.docs)).rejects.toMatchObject({
      details: { missing: [], extra: [entry(world.prod)] },
    })
  })

  it('comes with exactly the wraps it names', async () => {
    const { deploy, deployNext } = world.actors
    const { event, replacements } = await rotated(both(), deploy, deployNext)
    await refuses(world, [event, ...replacements.slice(1)], 'incomplete_batch')
    const other = await wrapDek(dekOf(world), deployNext.key, deploy, world.now + 1)
    await refuses(world, [event, ...replacements, other], 'incomplete_batch')
    await refuses(world, [event, ...replacements.slice(1), other], 'incomplete_batch')
  })

  it('takes wraps from the old to the new key alone, of the vault and version they are named for', async () => {
    const { deploy, deployNext, alice, worker } = world.actors
    const [prod, staging] = both() as [Dek, Dek]
    const attempt = async (one: Envelope, two: Envelope, order: readonly [Dek, Dek] = [prod, staging]) => {
      const batch = [one, two]
        .map((wrap, i) => ({ ...place(order[i] as Dek), wrapHash: documentHash(wrap) }))
        .sort((a, b) => (a.vaultId < b.vaultId ? -1 : 1))
      const event = await rotation(deploy, deployNext, batch)
      await refuses(world, [event, one, two], 'wrap_context')
    }
    const good = await wrapDek(staging, deployNext.key, deploy, world.now)
    await attempt(await wrapDek(prod, deployNext.key, alice, world.now), good)
    await attempt(await wrapDek(prod, worker.key, deploy, world.now), good)
    await attempt(await wrapDek(prod, deployNext.key, deploy, world.now), good, [staging, prod])
  })
  const place = ({ vaultId, dekVersion }: Dek) => ({ vaultId, dekVersion })
  const rotation = (old: Identity, next: Identity, batch: readonly object[]) =>
    sign(world, keyRotate, { oldKid: old.kid, kid: next.kid, key: next.key.bundle, batch } as never, old, next)

  it('needs the old key and the new one', async () => {
    const { deploy, deployNext, alice, bob } = world.actors
    const { event, replacements } = await rotated(both(), deploy, deployNext)
    const without = (kid: string): Envelope => ({
      ...event,
      signatures: event.signatures.filter(({ keyid }) => keyid !== kid),
    })
    await refuses(world, [without(deployNext.kid), ...replacements], 'missing_signature')
    await refuses(world, [without(deploy.kid), ...replacements], 'missing_signature')
    const daveNext = await newIdentity(world.actors.dave.key.principal)
    const members = { oldKid: world.actors.dave.kid, kid: daveNext.kid, key: daveNext.key.bundle, batch: [] }
    await refuses(world, [await sign(world, keyRotate, members, alice, daveNext)], 'missing_signature')
    await refuses(world, [await sign(world, keyRotate, members, bob, daveNext)], 'missing_signature')
  })

  it('stays with its principal', async () => {
    const { dave } = world.actors
    const members = { oldKid: dave.kid, kid: erin.kid, key: erin.key.bundle, batch: [] }
    await refuses(world, [await sign(world, keyRotate, members, dave, erin)], 'key_substitution')
  })

  it('happens once: an ended key hands nothing over', async () => {
    const { dave } = world.actors
    const next = await newIdentity(dave.key.principal)
    const { docs } = await rotated([], dave, next)
    await world.host.append(docs, world.now)
    const again = await rotated([], dave, await newIdentity(dave.key.principal))
    await refuses(world, again.docs, 'signer_not_active')
  })

  it('goes to a key that is not in the directory yet', async () => {
    const { dave } = world.actors
    expect(await refusal(async () => apply(world, (await rotated([], dave, dave)).docs))).toBe('bad_transition')
  })

  it('takes the caps along, and therefore not to a key that may not hold them', async () => {
    const { dave } = world.actors
    const rsaOnly = await identityOf('worker', dave.key.principal)
    await refuses(world, (await rotated([], dave, rsaOnly)).docs, 'not_authorised')
    const next = await newIdentity(dave.key.principal)
    await world.host.append((await rotated([], dave, next)).docs, world.now)
    expect((await apply(world, [await register(world, erin, ['member'], next)])).t).toBe('key.add')
  })

  it('takes along what a caps.set gave or took before it', async () => {
    const { alice, dave } = world.actors
    await world.host.append([await setCaps(world, dave.kid, ['member'], alice)], world.now)
    const next = await newIdentity(dave.key.principal)
    await world.host.append((await rotated([], dave, next)).docs, world.now)
    await refuses(world, [await register(world, erin, ['member'], next)], 'endorser_not_admin')
  })
})
