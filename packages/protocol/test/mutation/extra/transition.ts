import { keyRevoke, orgGenesis } from '../../../src/directory/documents.ts'
import type { JsonObject } from '../../../src/encoding/canonical.ts'
import { documentHash, type Envelope, makeDocument } from '../../../src/identity/document.ts'
import { grantName, type KidState, kidName } from '../../../src/log/state.ts'
import { registerKey } from '../../../src/runtime/runtime-key.ts'
import type { LogState } from '../../../src/transition/draft.ts'
import { makeLedger } from '../../../src/transition/ledger.ts'
import { transition } from '../../../src/transition/transition.ts'
import { projectAdmins, projectCreate, projectSet } from '../../../src/vault/documents.ts'
import { alterState, forge, kidStateOf, logFalse, logged, nextHead, policyOf } from '../../attacks/powers.ts'
import { identityOf } from '../../world/actors.ts'
import {
  createProject,
  makeCaps,
  makeProject,
  makeProjectChange,
  makeRevocation,
  projectStateOf,
} from '../../world/acts.ts'
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const submit = (make: (world: World) => Promise<readonly Envelope[]>) => async (open: () => Promise<World>) => {
  const world = await open()
  return world.host.append(await make(world), world.now)
}

/** A genesis for an empty log. */
const founding = (change: (world: World) => object) => async (open: () => Promise<World>) => {
  const world = await open()
  const { alice } = world.actors
  const genesis = await forge(orgGenesis, world.genesis, change(world) as never, alice)
  return transition(makeLedger(ORG), 0, { docs: [genesis], at: 1 })
}

/** The log with something missing that every accepted act had left there. */
const damaged =
  (change: (before: LogState, world: World) => Partial<LogState>) => async (open: () => Promise<World>) => {
    const world = await open()
    const { alice, mallory } = world.actors
    const { ledger, leaves } = world.host
    const docs = [await registerKey({ org: ORG, caps: ['member'], at: world.now }, alice, mallory)]
    return transition({ ...ledger, ...change(ledger, world) }, leaves.length, { docs, at: world.now })
  }

const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

const DIRECTORY = [
  extra('genesis-by-one-person-twice', 'bad_transition', async (open) => {
    const world = await open()
    const { alice } = world.actors
    const second = await identityOf('dave', 'user:ou_alice')
    const admins = [alice, second]
      .map(({ kid, key }) => ({ kid, key: key.bundle }))
      .sort((a, b) => (a.kid < b.kid ? -1 : 1))
    const genesis = await forge(orgGenesis, world.genesis, { admins }, alice, second)
    return transition(makeLedger(ORG), 0, { docs: [genesis], at: 1 })
  }),
  extra(
    'genesis-with-unreachable-quorum',
    'bad_transition',
    founding((world) => ({ policy: { ...policyOf(world), dirQuorum: 2 } })),
  ),
  extra(
    'key-beyond-the-devices-of-a-person',
    'limit_exceeded',
    submit(async (world) => {
      const { alice, mallory } = world.actors
      const state = kidStateOf(world, alice.kid)
      const others = Array.from(
        { length: 64 },
        (_, i) => `user:ou_mallory:${'a'.repeat(30)}${'abcdefgh'[i >> 3]}${'abcdefgh'[i & 7]}`,
      )
      logFalse(world, [], Object.fromEntries(others.map((kid) => [kidName(kid), { ...state, kid }])), 'key.add')
      return [await registerKey({ org: ORG, caps: ['member'], at: world.now }, alice, mallory)]
    }),
  ),
  extra(
    'caps-beyond-what-a-state-holds',
    'limit_exceeded',
    submit(async (world) => {
      const { alice, carol } = world.actors
      const capSets = Array.from({ length: 1024 }, (_, index) => ({ index, docHash: HASH }))
      const granted = await makeCaps(world, carol.kid, ['member'], [alice])
      capSets[1023] = { index: 1023, docHash: documentHash(granted) }
      alterState<KidState>(world, kidName(carol.kid), { capSets }, [granted])
      return [await makeCaps(world, carol.kid, ['member', 'recovery'], [alice])]
    }),
  ),
  extra(
    'log-without-a-document',
    'bad_transition',
    damaged(() => ({ document: () => undefined })),
  ),
  extra(
    'log-with-another-record',
    'wrong_type',
    damaged((before, world) => ({
      get: async (name) =>
        name === kidName(world.actors.alice.kid)
          ? ({
              ...kidStateOf(world, world.actors.alice.kid),
              rec: documentHash(notARecord(world)),
            } as unknown as JsonObject)
          : before.get(name),
    })),
  ),
  extra('log-without-genesis', 'bad_transition', async (open) => {
    const world = await open()
    const { alice, mallory } = world.actors
    const docs = [await registerKey({ org: ORG, caps: ['member'], at: 1 }, alice, mallory)]
    return transition(makeLedger(ORG), 1, { docs, at: 1 })
  }),
]

const notARecord = (world: World): Envelope => world.host.leaves.at(-1)?.docs[0] as Envelope

const project =
  (change: (world: World, projectId: string) => Promise<readonly Envelope[]>) => async (open: () => Promise<World>) => {
    const world = await open()
    const projectId = await createProject(world, [world.prod], world.actors.alice)
    return world.host.append(await change(world, projectId), world.now)
  }

const ANY_PROJECT = `p${'a'.repeat(32)}`

const adminsOf = (world: World, projectId: string, change: object) => {
  const { adminsHash } = projectStateOf(world, projectId)
  const members = { projectId, adminsVersion: 2, admins: ['user:ou_alice'], prev: adminsHash, ...change }
  return makeDocument(projectAdmins, { org: ORG, at: world.now, ...members } as never, [world.actors.alice])
}
const next = async (world: World, projectId: string) =>
  (await makeProjectChange(world, projectId, {}, world.actors.alice))[0] as Envelope

const PROJECTS = [
  extra(
    'project-out-of-order',
    'bad_transition',
    project(async (world, projectId) => [
      await forge(projectSet, await next(world, projectId), { prev: '' }, world.actors.alice),
    ]),
  ),
  extra(
    'project-by-member',
    'not_authorised',
    project((world, projectId) => makeProjectChange(world, projectId, {}, world.actors.bob)),
  ),
  extra(
    'project-created-twice',
    'bad_transition',
    project(async (world, projectId) => [
      await next(world, projectId),
      logged(world, projectStateOf(world, projectId).adminsHash),
    ]),
  ),
  extra(
    'project-under-other-id',
    'vault_swap',
    submit(async (world) => {
      const { create, set } = await makeProject(world, [world.prod], world.actors.alice)
      return [await forge(projectCreate, create, { salt: 'BAAAAAAAAAAAAAAAAAAAAA' }, world.actors.alice), set]
    }),
  ),
  extra(
    'project-nobody-created',
    'bad_transition',
    submit(async (world) => [(await makeProject(world, [world.prod], world.actors.alice)).set]),
  ),
  extra(
    'project-admins-of-other-project',
    'vault_swap',
    project(async (world, projectId) => [
      await next(world, projectId),
      await adminsOf(world, projectId, { projectId: ANY_PROJECT }),
    ]),
  ),
  extra(
    'project-admins-out-of-order',
    'bad_transition',
    project(async (world, projectId) => [
      await next(world, projectId),
      await adminsOf(world, projectId, { adminsVersion: 3 }),
    ]),
  ),
  extra(
    'project-without-admins',
    'bad_transition',
    project(async (world, projectId) => [
      await next(world, projectId),
      await adminsOf(world, projectId, { admins: [] }),
    ]),
  ),
]

const ACTS = [
  extra(
    'act-of-nothing',
    'bad_transition',
    submit(async () => []),
  ),
  extra(
    'act-with-a-document-twice',
    'bad_transition',
    submit(async (world) => {
      const revocation = await makeRevocation(world, world.actors.bob.kid, 'removed', world.actors.alice)
      return [revocation, revocation]
    }),
  ),
  extra(
    'act-of-no-kind',
    'bad_transition',
    submit(async (world) => {
      const item = [...(world.vaults.get(world.prod)?.items.values() ?? [])][0] as { envelope: Envelope }
      return [item.envelope]
    }),
  ),
  extra(
    'act-with-a-stranger',
    'bad_transition',
    submit(async (world) => [
      await makeRevocation(world, world.actors.bob.kid, 'removed', world.actors.alice),
      world.genesis,
    ]),
  ),
  extra(
    'act-without-its-set',
    'bad_transition',
    submit(async (world) => {
      const { create, set } = await makeProject(world, [world.prod], world.actors.alice)
      return [create, { ...set, payloadType: set.payloadType.replace('project.set', 'project.admins') }]
    }),
  ),
  extra(
    'act-too-large',
    'limit_exceeded',
    submit(async (world) => {
      const { bob, alice } = world.actors
      const grants = Array.from({ length: 4200 }, (_, i) => [
        grantName(world.prod, bob.kid, i + 2),
        { wrapHash: HASH, index: 1 },
      ])
      logFalse(world, [], Object.fromEntries(grants), 'grant.add')
      return [await makeDocument(keyRevoke, { org: ORG, at: world.now, kid: bob.kid, reason: 'superseded' }, [alice])]
    }),
  ),
  extra(
    'move-by-two-writers',
    'bad_transition',
    submit(async (world) => [
      await nextHead(world, {}, world.actors.bob),
      await nextHead(world, {}, world.actors.alice, world.staging),
    ]),
  ),
]

export const TRANSITION_CASES = [...DIRECTORY, ...PROJECTS, ...ACTS]
