// Catches: grants by people who may not make them, for people who may not have them, or of keys that are not in use.
// Seen red: each of the seven checks of `applyGrant` removed in turn; several vaults in one act refused.
import { beforeAll, describe, expect, it } from 'vitest'
import { documentHash } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { grantName } from '../../src/log/state.ts'
import { makeDek } from '../../src/values/dek.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { apply, commitDocs, dekOf, join, newIdentity, refuses, revoke, updatesOf } from './desk.ts'

let world: World
let bob2: Identity
beforeAll(async () => {
  world = await openWorld()
  bob2 = await newIdentity(world.actors.bob.key.principal)
  await join(world, bob2, ['member'])
})
const wrap = (to: Identity, by: Identity = world.actors.alice, dek = dekOf(world)) =>
  wrapDek(dek, to.key, by, world.now)

describe('grant.add', () => {
  it('writes one grant for each wrap, of one vault or of several', async () => {
    const docs = [await wrap(bob2), await wrap(bob2, world.actors.alice, dekOf(world, world.staging))]
    expect((await apply(world, docs)).t).toBe('grant.add')
    const index = world.host.leaves.length
    expect(await updatesOf(world, docs)).toEqual({
      [grantName(world.prod, bob2.kid, 1)]: { wrapHash: documentHash(docs[0]), index },
      [grantName(world.staging, bob2.kid, 1)]: { wrapHash: documentHash(docs[1]), index },
    })
  })

  it('replaces a wrap that turned out to be broken', async () => {
    const again = await wrap(world.actors.carol)
    expect(await updatesOf(world, [again])).toEqual({
      [grantName(world.prod, world.actors.carol.kid, 1)]: {
        wrapHash: documentHash(again),
        index: world.host.leaves.length,
      },
    })
  })

  it('grants one key once: two wraps for it in one act would depend on their order', async () => {
    const twice = [await wrap(bob2), await wrap(bob2)]
    await refuses(world, twice, 'bad_transition')
    await refuses(world, twice.toReversed(), 'bad_transition')
  })

  it('is made by an admin of the vault: not by a writer, not by a directory admin, not by the reader', async () => {
    const { bob, dave } = world.actors
    await refuses(world, [await wrap(bob2, bob)], 'not_authorised')
    await refuses(world, [await wrap(bob2, dave)], 'not_authorised')
    await refuses(world, [await wrap(bob2, bob2)], 'not_authorised')
    await refuses(world, [await wrap(bob2, world.actors.mallory)], 'unknown_signer')
  })

  it('is for an active key of somebody on the access list', async () => {
    const { dave, mallory, carol } = world.actors
    await refuses(world, [await wrap(dave)], 'not_authorised')
    await refuses(world, [await wrap(mallory)], 'unknown_signer')
    const other = await openWorld()
    await other.host.append([await revoke(other, carol.kid, 'superseded')], other.now)
    await refuses(other, [await wrapDek(dekOf(other), carol.key, other.actors.alice, other.now)], 'signer_not_active')
  })

  it('is of a key in use: neither of another key nor of a version that does not exist', async () => {
    const { alice } = world.actors
    const foreign = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
    await refuses(world, [await wrap(bob2, alice, foreign)], 'dek_commitment')
    const future = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 2 })
    await refuses(world, [await wrap(bob2, alice, future)], 'dek_commitment')
    const nowhere = makeDek({ org: ORG, vaultId: `v${'a'.repeat(32)}`, dekVersion: 1 })
    await refuses(world, [await wrap(bob2, alice, nowhere)], 'bad_transition')
  })

  it('is as a whole or not at all', async () => {
    const { dave } = world.actors
    await refuses(world, [await wrap(bob2), await wrap(dave)], 'not_authorised')
  })

  it('in a commit is of the vault of that commit', async () => {
    const made = await commitDocs(world, {
      grants: [{ dek: dekOf(world, world.staging), to: world.actors.carol.key }],
    })
    await refuses(world, made.all, 'wrap_context')
  })
})
