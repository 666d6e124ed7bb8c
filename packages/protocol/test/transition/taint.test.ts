// Catches: keys that a compromised one vouched for and that go on acting or get vault keys, and confirmations that are none.
// Seen red: `ensureUntainted` not called for signers, and not for recipients; a confirmation older than the end of the
// compromised key accepted; only the direct voucher looked at; quorums not counted.
import { beforeEach, describe, expect, it } from 'vitest'
import type { Identity } from '../../src/identity/private-keys.ts'
import { grantName, vaultName } from '../../src/log/state.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import type { AclEntry } from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import {
  admit,
  apply,
  commit,
  commitDocs,
  dekOf,
  join,
  newIdentity,
  nextHead,
  recover,
  refuses,
  register,
  revoke,
  setCaps,
  updatesOf,
} from './desk.ts'

let world: World
beforeEach(async () => {
  world = await openWorld()
})
const append = async (...docs: Parameters<World['host']['append']>[0]) => {
  await world.host.append(docs, world.now)
}

describe('a key that a compromised key vouched for', () => {
  let erin: Identity
  beforeEach(async () => {
    // Dave endorses Erin, who writes to the vault; then Dave’s key is found to be compromised.
    erin = admit(world, 'erin', await newIdentity('user:ou_erin'))
    await join(world, erin, ['member'], world.actors.dave)
    const acl: AclEntry[] = [
      { p: 'user:ou_alice', role: 'admin' },
      { p: 'user:ou_bob1', role: 'write' },
      { p: 'user:ou_erin', role: 'write' },
    ]
    await commit(world, { acl, rotate: 'member-removed' })
    await append(await revoke(world, world.actors.dave.kid, 'compromised'))
  })

  it('signs no head, which no reader would accept', async () => {
    await refuses(world, [await nextHead(world, {}, erin)], 'signer_compromised')
  })

  it('is wrapped no vault key, and a new one is complete without it', async () => {
    const { alice, bob } = world.actors
    const grant = await wrapDek(dekOf(world), erin.key, alice, world.now)
    await refuses(world, [grant], 'signer_compromised')
    const withErin = await commitDocs(world, { rotate: 'key-compromised' })
    await refuses(world, withErin.all, 'signer_compromised')
    const without = await commitDocs(world, { rotate: 'key-compromised', recipients: [alice.key, bob.key] })
    const updates = await updatesOf(world, without.all)
    expect(updates[grantName(world.prod, erin.kid, 2)]).toBeUndefined()
    expect(updates[vaultName(world.prod)]).toMatchObject({ dekVersion: 3 })
  })

  it('counts again once the quorum has confirmed it by a caps.set after the end', async () => {
    const { alice } = world.actors
    await append(await setCaps(world, erin.kid, ['member'], alice))
    expect((await apply(world, [await nextHead(world, {}, erin)])).t).toBe('vault.commit')
    expect((await apply(world, [await wrapDek(dekOf(world), erin.key, alice, world.now)])).t).toBe('grant.add')
  })

  it('is not confirmed by a caps.set from before the end', async () => {
    world = await openWorld()
    const { alice, dave } = world.actors
    erin = admit(world, 'erin', await newIdentity('user:ou_erin'))
    await join(world, erin, ['member'], dave)
    await append(await setCaps(world, erin.kid, ['member'], alice))
    await append(await revoke(world, dave.kid, 'compromised'))
    const grant = await wrapDek(dekOf(world), erin.key, alice, world.now)
    await refuses(world, [grant], 'signer_compromised')
  })

  it('taints the keys it rotates to and the keys it endorsed in turn', async () => {
    const { alice } = world.actors
    const erinNext = admit(world, 'erinNext', await newIdentity(erin.key.principal))
    const held = [dekOf(world)]
    const { event, replacements } = await rotateKey({ org: ORG, at: world.now, held }, erin, erinNext)
    await append(event, ...replacements)
    await refuses(world, [await nextHead(world, {}, erinNext)], 'signer_compromised')
    await append(await setCaps(world, erinNext.kid, ['member'], alice))
    expect((await apply(world, [await nextHead(world, {}, erinNext)])).t).toBe('vault.commit')
  })

  it('is not tainted by a key that was only removed', async () => {
    world = await openWorld()
    const { alice, dave } = world.actors
    erin = await newIdentity('user:ou_erin')
    await join(world, erin, ['member'], dave)
    await append(await revoke(world, dave.kid, 'removed'))
    await commit(world, {
      acl: [
        { p: 'user:ou_alice', role: 'admin' },
        { p: 'user:ou_erin', role: 'write' },
      ],
      rotate: 'member-removed',
      recipients: [alice.key, erin.key],
    })
    expect((await apply(world, [await nextHead(world, {}, erin)])).t).toBe('vault.commit')
  })

  it('with authority of its own stands if enough others vouched for it too', async () => {
    world = await openWorld()
    const { alice, dave, bob } = world.actors
    const manager = await newIdentity('user:ou_manager')
    await append(await register(world, manager, ['agent-manager', 'member'], dave, alice))
    await append(await revoke(world, dave.kid, 'compromised'))
    await commit(world, {
      acl: [
        { p: 'user:ou_alice', role: 'admin' },
        { p: 'user:ou_bob1', role: 'write' },
        { p: 'user:ou_manager', role: 'write' },
      ],
      rotate: 'member-removed',
      recipients: [alice.key, bob.key, manager.key],
    })
    expect((await apply(world, [await nextHead(world, {}, manager)])).t).toBe('vault.commit')
  })

  it('and a recovery that leaned on it are refused alike, until it is confirmed', async () => {
    world = await openWorld()
    const { alice, dave, carol } = world.actors
    const next = await identityOf('mallory', carol.key.principal)
    await append(await recover(world, next, [carol.kid], 'lost', dave, next))
    await append(await revoke(world, dave.kid, 'compromised'))
    await refuses(world, [await wrapDek(dekOf(world), next.key, alice, world.now)], 'signer_compromised')
    await append(await setCaps(world, next.kid, ['member'], alice))
    expect((await apply(world, [await wrapDek(dekOf(world), next.key, alice, world.now)])).t).toBe('grant.add')
  })
})
