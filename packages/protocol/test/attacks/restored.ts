import { capsSet, type LogRecoverPayload, logRecover } from '../../src/directory/documents.ts'
import { toBase64 } from '../../src/encoding/base64.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { type KidState, kidName, POLICY_NAME, type PolicyState } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { orgTrustOf } from '../../src/trust/store.ts'
import { addKey, changeVault, revokeKey, setCaps, setPolicy } from '../world/acts.ts'
import { backupOf, loseTo, makeStatement, recoveryAnswer, restoreTo } from '../world/recovery.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Client } from './attack.ts'
import { dekOf, MALLORY, makeDaveAdmin } from './authority.ts'
import { ADMIN } from './caps.ts'
import { readAgain } from './memory.ts'
import { aclWith, alterState, forge, kidStateOf, logFalse, policyOf } from './powers.ts'

// Row 31 against a client with memory: a server that was put back to a backup, or says so. The honest half of it needs a statement
// by the quorum of directory admins; these are the other halves.

type Lost = { readonly size: number; readonly root: string }
type Signers = readonly [Signer, ...Signer[]]

export const write = async (world: World): Promise<void> => world.write(world.prod, [], world.actors.bob)

/** The client knows both admins, and has seen what `between` did after the backup; then the server is put back. */
export async function lose(world: World, client: Client, between: (world: World) => Promise<unknown>): Promise<Lost> {
  await setPolicy(world, { ...policyOf(world), rotationGraceMs: 1 }, [world.actors.dave])
  await client.learn()
  const backup = backupOf(world)
  await between(world)
  await client.learn()
  return loseTo(world, backup)
}

/** The server logs whatever it likes as a recovery, with the state that belongs to it. */
function logRecovery(world: World, statement: Envelope): void {
  const index = world.host.leaves.length
  const state = world.host.state(POLICY_NAME) as PolicyState
  const recoveries = [...(state.recoveries ?? []), { index, docHash: documentHash(statement) }]
  logFalse(world, [statement], { [POLICY_NAME]: { ...state, recoveries } }, 'log.recover')
}

/** After a loss the server offers a statement that it has logged without asking any rule. */
const offering =
  (between: (world: World) => Promise<unknown>, make: (world: World, lost: Lost) => Promise<Envelope>) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    const statement = await make(world, await lose(world, client, between))
    logRecovery(world, statement)
    return client.recover(await recoveryAnswer(world, statement))
  }

const statedBy = (...who: readonly ('alice' | 'bob' | 'dave')[]) => {
  const signersOf = ({ actors }: World) => who.map((name) => actors[name]) as unknown as Signers
  return (world: World, lost: Lost): Promise<Envelope> => makeStatement(world, lost, signersOf(world))
}

const stating =
  (change: Partial<LogRecoverPayload>) =>
  (world: World, lost: Lost): Promise<Envelope> =>
    makeStatement(world, lost, [world.actors.alice], change)

/** An honest recovery after a loss. */
export async function recovered(
  world: World,
  client: Client,
  between: (world: World) => Promise<unknown>,
): Promise<Envelope> {
  const statement = await makeStatement(world, await lose(world, client, between), [world.actors.alice])
  await world.host.append([statement], world.now)
  await client.recover(await recoveryAnswer(world, statement))
  return statement
}

export const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export const RESTORED: readonly Attack[] = [
  {
    id: 'restored-without-a-word',
    row: 31,
    title: 'a server that was put back to a backup and says nothing',
    code: 'log_rollback',
    run: async (world, { client }) => {
      await lose(world, client, write)
      return readAgain(client)
    },
  },
  {
    id: 'restored-and-grown',
    row: 31,
    title: 'a server that was put back and has grown past what the client saw',
    code: 'log_fork',
    run: async (world, { client }) => {
      await lose(world, client, write)
      const { alice, carol } = world.actors
      await setCaps(world, carol.kid, ['member', 'recovery'], [alice])
      await write(world)
      return readAgain(client)
    },
  },
  {
    id: 'restored-stated-but-not-logged',
    row: 31,
    title: 'a genuine statement that is not in the log',
    code: 'bad_inclusion',
    run: async (world, { client }) => {
      const statement = await statedBy('alice')(world, await lose(world, client, write))
      await write(world)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-stated-too-late',
    row: 31,
    title: 'a statement that was logged after something else was written to the restored log',
    code: 'bad_inclusion',
    run: async (world, { client }) => {
      const statement = await statedBy('alice')(world, await lose(world, client, write))
      const honest = await recoveryAnswerAfterWrite(world, statement)
      return client.recover(honest)
    },
  },
  {
    id: 'restored-by-too-few',
    row: 31,
    title: 'a recovery by one admin where two must agree',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      const strict = { ...policyOf(world), recoverQuorum: 2 }
      await setPolicy(world, strict, [alice, dave])
      await client.learn()
      const backup = backupOf(world)
      await write(world)
      await client.learn()
      const statement = await statedBy('alice')(world, await loseTo(world, backup))
      logRecovery(world, statement)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-before-the-quorum-rose',
    row: 31,
    title: 'a recovery by one admin, from before the policy that the client has seen asked for two',
    code: 'endorser_not_admin',
    run: offering(async (world) => {
      const { alice, dave } = world.actors
      await setPolicy(world, { ...policyOf(world), recoverQuorum: 2 }, [alice, dave])
    }, statedBy('alice')),
  },
  {
    id: 'restored-by-a-member',
    row: 31,
    title: 'a recovery by somebody who is no admin',
    code: 'endorser_not_admin',
    run: offering(write, statedBy('bob')),
  },
  {
    id: 'restored-by-a-former-admin',
    row: 31,
    title: 'a recovery by an admin who was removed before the backup',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      await client.learn()
      await revokeKeyOfDave(world)
      const backup = backupOf(world)
      await write(world)
      await client.learn()
      const statement = await statedBy('dave')(world, await loseTo(world, backup))
      logRecovery(world, statement)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-by-an-admin-removed-long-ago',
    row: 31,
    title: 'a recovery by an admin whom the client saw removed before the backup, and has not met again',
    code: 'log_rollback',
    run: async (world, { client }) => {
      const { dave } = world.actors
      await makeDaveAdmin(world)
      await world.write(world.prod, [], dave)
      await client.learn()
      const active = kidStateOf(world, dave.kid)
      await revokeKeyOfDave(world)
      await client.learn()
      await write(world)
      await write(world)
      const backup = backupOf(world)
      await write(world)
      await client.learn()
      const statement = await statedBy('dave')(world, await loseTo(world, backup))
      logRecovery(world, statement)
      alterState<KidState>(world, kidName(dave.kid), active)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-by-a-member-with-another-record',
    row: 31,
    title: 'a recovery by a member for whose key a removed admin has signed another record',
    code: 'log_fork',
    run: async (world, { client }) => {
      const { alice, dave, mallory } = world.actors
      await addKey(world, mallory, ['member'], alice)
      const grants = [{ dek: dekOf(world), to: mallory.key }]
      await changeVault(world, { acl: aclWith(world, { [MALLORY]: 'write' }), grants }, alice)
      await world.write(world.prod, [], mallory)
      await revokeKeyOfDave(world)
      const backup = backupOf(world)
      await world.write(world.prod, [], mallory)
      await client.learn()
      const statement = await makeStatement(world, await loseTo(world, backup), [mallory])
      logRecovery(world, statement)
      const record = await registerKey({ org: ORG, caps: ['dir-admin', 'member'], at: world.now }, dave, mallory)
      alterState<KidState>(world, kidName(mallory.kid), { rec: documentHash(record) }, [record])
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-by-an-admin-deposed-since-with-other-caps',
    row: 31,
    title:
      'a recovery by an admin deposed since, with caps signed by a removed one in place of those that the client has seen',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, carol, dave } = world.actors
      const given = await setCaps(world, carol.kid, ADMIN, [alice])
      await changeVault(world, { acl: aclWith(world, { 'user:ou_carol': 'write' }) }, alice)
      await world.write(world.prod, [], carol)
      const index = world.host.leaves.length - 1
      await revokeKeyOfDave(world)
      const backup = backupOf(world)
      await setCaps(world, carol.kid, ['member'], [alice])
      await client.learn()
      const statement = await makeStatement(world, await loseTo(world, backup), [carol])
      logRecovery(world, statement)
      const { capSets } = kidStateOf(world, carol.kid)
      const again = await forge(capsSet, given, { prev: documentHash(given) }, dave)
      const lie = { capSets: [...capSets, { index, docHash: documentHash(again) }] }
      alterState<KidState>(world, kidName(carol.kid), lie, [again])
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-by-an-admin-removed-since',
    row: 31,
    title: 'a recovery by an admin whose removal it undoes, and which the client has seen',
    code: 'endorser_not_admin',
    run: offering(revokeKeyOfDave, statedBy('dave')),
  },
  {
    id: 'restored-by-an-admin-deposed-since',
    row: 31,
    title: 'a recovery by an admin whose caps it gives back, and which the client has seen taken',
    code: 'endorser_not_admin',
    run: offering((world) => setCaps(world, world.actors.dave.kid, ['member'], [world.actors.alice]), statedBy('dave')),
  },
  {
    id: 'restored-to-another-log',
    row: 31,
    title: 'a statement about another log than the one that goes on',
    code: 'log_fork',
    run: offering(write, stating({ keptRoot: HASH })),
  },
  {
    id: 'restored-of-another-organisation',
    row: 31,
    title: 'a statement of another organisation with the same admin',
    code: 'genesis_mismatch',
    run: offering(write, async (world, lost) => {
      const own = await statedBy('alice')(world, lost)
      return forge(logRecover, own, { org: 'org_other' }, world.actors.alice)
    }),
  },
  {
    id: 'restored-from-another-loss',
    row: 31,
    title: 'a statement that gives up another log than the one the client has seen',
    code: 'log_fork',
    run: offering(write, (world, lost) => stating({ lost: { ...lost, root: HASH } })(world, lost)),
  },
  {
    id: 'restored-twice-with-one-statement',
    row: 31,
    title: 'a statement that was accepted before, for being put back once more',
    code: 'log_rollback',
    run: async (world, { client }) => {
      const statement = await recovered(world, client, write)
      await write(world)
      await client.learn()
      const { leaves, vaults } = backupOf(world)
      const { keptSize } = orgRecovery(client)
      await restoreTo(world, { leaves: leaves.slice(0, keptSize), vaults })
      await world.host.append([statement], world.now + 1)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-statement-for-a-fork',
    row: 31,
    title: 'a statement that keeps more than the client has seen, as an excuse for another past',
    code: 'log_fork',
    run: async (world, { client }) => {
      await client.learn()
      await write(world)
      const statement = await makeStatement(world, { size: 100, root: '' }, [world.actors.alice])
      await world.host.append([statement], world.now)
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-past-a-hidden-recovery',
    row: 31,
    title: 'the second of two recoveries, with the first one passed over',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const lost = await lose(world, client, async () => {
        for (let i = 0; i < 4; i++) await write(world)
      })
      await world.host.append([await statedBy('alice')(world, lost)], world.now)
      const second = await statedBy('alice')(world, lost)
      await world.host.append([second], world.now)
      return client.recover(await recoveryAnswer(world, second))
    },
  },
]

async function revokeKeyOfDave(world: World): Promise<void> {
  await revokeKey(world, world.actors.dave.kid, 'removed', world.actors.alice)
}

/** Somebody writes first; the statement follows, and its own leaf is offered as the first one. */
async function recoveryAnswerAfterWrite(world: World, statement: Envelope) {
  await write(world)
  logRecovery(world, statement)
  const answer = await recoveryAnswer(world, statement)
  const { bytes } = (world.host.leaves.at(-1) as { made: { bytes: Uint8Array } }).made
  return { ...answer, inclusion: { ...answer.inclusion, leaf: toBase64(bytes) } }
}

const orgRecovery = ({ store }: Client): { keptSize: number } => {
  const [first] = orgTrustOf(store, ORG).recoveries ?? []
  return { keptSize: first?.index ?? 0 }
}
