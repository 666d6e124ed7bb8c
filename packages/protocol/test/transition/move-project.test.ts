// Catches: moves by two people or within one vault, projects without right or out of order, project ids that certify nothing.
// Seen red: the writers of a move not compared; `deriveProjectId` not compared; the admins of a project taken from the set
// after the leaf; versions and `prev` not compared; vaults that do not exist accepted.
import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { projectName, vaultName } from '../../src/log/state.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { projectAdmins, projectCreate, projectSet } from '../../src/vault/documents.ts'
import { openWorld, type World } from '../world/world.ts'
import { apply, commit, commitDocs, nextHead, refuses, revoke, salt, sign, updatesOf, vaultStateOf } from './desk.ts'

let world: World
beforeEach(async () => {
  world = await openWorld()
})

describe('vault.move', () => {
  const heads = async (one: Identity = world.actors.bob, two: Identity = one) => [
    await nextHead(world, {}, one, world.prod),
    await nextHead(world, {}, two, world.staging),
  ]

  it('writes two heads of two vaults in one leaf', async () => {
    const docs = await heads()
    expect((await apply(world, docs)).t).toBe('vault.move')
    const index = world.host.leaves.length
    const moved = (vaultId: string, head: Envelope | undefined) => {
      const before = vaultStateOf(world, vaultId)
      return { ...before, headVersion: before.headVersion + 1, headHash: documentHash(head), headIndex: index }
    }
    expect(await updatesOf(world, docs)).toEqual({
      [vaultName(world.prod)]: moved(world.prod, docs[0]),
      [vaultName(world.staging)]: moved(world.staging, docs[1]),
    })
  })

  it('is by one writer, who may write to both', async () => {
    const { alice, bob, carol } = world.actors
    await refuses(world, await heads(alice, bob), 'bad_transition')
    await refuses(world, await heads(carol), 'not_authorised')
  })

  it('is between two vaults', async () => {
    await refuses(world, [await nextHead(world), await nextHead(world, { at: world.now + 1 })], 'bad_transition')
    const three = [...(await heads()), await nextHead(world, { at: world.now + 1 })]
    await refuses(world, three, 'bad_transition')
  })

  it('follows both current heads, or neither moves', async () => {
    const docs = await heads()
    await world.host.append([await nextHead(world, {}, world.actors.bob, world.staging)], world.now)
    await refuses(world, docs, 'head_conflict')
  })

  it('carries nothing but heads', async () => {
    const made = await commitDocs(world, { rotate: 'scheduled' })
    await refuses(world, [...(await heads()), ...made.epoch], 'bad_transition')
    await refuses(world, [...(await heads()), ...made.wraps], 'bad_transition')
  })

  it('waits for a rotation that is overdue in either vault', async () => {
    await world.host.append([await revoke(world, world.actors.carol.kid, 'compromised')], world.now)
    await commit(world, { rotate: 'key-compromised' })
    await refuses(world, await heads(), 'rotation_due', world.now + 2 * 86_400_000)
  })
})

describe('project.commit', () => {
  const founding = async (by: Identity, admins: readonly string[] = [by.key.principal]) =>
    sign(world, projectCreate, { admins: [...admins].sort(), salt: salt() }, by)
  const set = (projectId: string, change: object, by: Identity) =>
    sign(
      world,
      projectSet,
      {
        projectId,
        projectVersion: 1,
        slug: 'payments',
        name: 'Payments',
        status: 'active',
        vaults: [world.prod, world.staging].sort(),
        prev: '',
        ...change,
      } as never,
      by,
    )
  const found = async (by: Identity, admins?: readonly string[]) => {
    const create = await founding(by, admins)
    const projectId = deriveProjectId(documentHash(create))
    return { create, projectId, set: await set(projectId, {}, by) }
  }
  const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)

  it('that creates writes the whole state of the project', async () => {
    const project = await found(world.actors.bob)
    const docs = [project.create, project.set]
    expect((await apply(world, docs)).t).toBe('project.commit')
    const index = world.host.leaves.length
    expect(await updatesOf(world, docs)).toEqual({
      [projectName(project.projectId)]: {
        projectId: project.projectId,
        createIndex: index,
        adminsHash: documentHash(project.create),
        adminsIndexes: [index],
        projectVersion: 1,
        docHash: documentHash(project.set),
        index,
      },
    })
  })

  it('creates for the id its creation document certifies, once, and by one of its admins', async () => {
    const { bob, carol } = world.actors
    const project = await found(bob)
    await refuses(world, [await founding(bob), project.set], 'vault_swap')
    await refuses(world, [project.set], 'bad_transition')
    const foreign = await found(bob, [carol.key.principal])
    await refuses(world, [foreign.create, foreign.set], 'not_authorised')
    await append(project.create, project.set)
    await refuses(world, [project.create, project.set], 'bad_transition')
  })

  it('sets the next version, signed by an admin', async () => {
    const { bob, carol, dave } = world.actors
    const { projectId, create, set: first } = await found(bob)
    await append(create, first)
    const next = { projectVersion: 2, prev: documentHash(first), vaults: [world.prod] }
    const event = await set(projectId, next, bob)
    expect((await updatesOf(world, [event]))[projectName(projectId)]).toMatchObject({
      projectVersion: 2,
      docHash: documentHash(event),
      index: world.host.leaves.length,
    })
    await refuses(world, [await set(projectId, next, carol)], 'not_authorised')
    await refuses(world, [await set(projectId, next, dave)], 'not_authorised')
    await refuses(world, [await set(projectId, { ...next, projectVersion: 3 }, bob)], 'bad_transition')
    await refuses(world, [await set(projectId, { ...next, prev: '' }, bob)], 'bad_transition')
    await refuses(world, [await set(projectId, { ...next, vaults: [`v${'a'.repeat(32)}`] }, bob)], 'bad_transition')
  })

  it('cannot go back to its first admins: a creation document comes once, whatever comes with it', async () => {
    const { bob } = world.actors
    const { projectId, create, set: first } = await found(bob)
    await append(create, first)
    const next = await set(projectId, { projectVersion: 2, prev: documentHash(first) }, bob)
    await refuses(world, [create, next], 'bad_transition')
  })

  it('is not administered by an RSA-only agent', async () => {
    const { worker } = world.actors
    const project = await found(worker)
    await refuses(world, [project.create, project.set], 'not_authorised')
  })

  it('hands over to other admins, by an admin before, and never to nobody', async () => {
    const { bob, carol } = world.actors
    const { projectId, create, set: first } = await found(bob)
    await append(create, first)
    const next = await set(projectId, { projectVersion: 2, prev: documentHash(first) }, bob)
    const admins = { projectId, adminsVersion: 2, admins: [carol.key.principal], prev: documentHash(create) }
    const handOver = (change: object, by: Identity = bob) => sign(world, projectAdmins, { ...admins, ...change }, by)
    await refuses(world, [next, await handOver({ admins: [] })], 'bad_transition')
    await refuses(world, [next, await handOver({ adminsVersion: 3 })], 'bad_transition')
    await refuses(world, [next, await handOver({ prev: documentHash(first) })], 'bad_transition')
    await refuses(world, [next, await handOver({ projectId: `p${'a'.repeat(32)}` })], 'vault_swap')
    await refuses(world, [next, await handOver({}, carol)], 'not_authorised')
    const byCarol = await set(projectId, { projectVersion: 2, prev: documentHash(first) }, carol)
    await refuses(world, [byCarol, await handOver({})], 'not_authorised')
    await append(next, await handOver({}))
    expect(world.host.state(projectName(projectId))).toMatchObject({
      adminsIndexes: [world.host.leaves.length - 2, world.host.leaves.length - 1],
    })
    const later = { projectVersion: 3, prev: documentHash(next) }
    await refuses(world, [await set(projectId, later, bob)], 'not_authorised')
    expect((await apply(world, [await set(projectId, later, carol)])).t).toBe('project.commit')
  })
})
