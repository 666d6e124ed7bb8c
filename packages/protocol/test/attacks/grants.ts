import { keyRotate } from '../../src/directory/documents.ts'
import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import { makeDek } from '../../src/values/dek.ts'
import { wrapDek, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { identityOf } from '../world/actors.ts'
import { addKey, changeVault, revokeKey } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench } from './attack.ts'
import { SEAL, submitting } from './members.ts'
import { aclWith, forge } from './powers.ts'
import { rotation } from './succession.ts'

// Rows 10 to 13, 16 and 18 against the transition rules: rotations of agents and grants of vault keys.

/** The rotation of the agent’s key, honest but for one thing. */
const rotating =
  (
    change: (
      made: { event: Envelope; replacements: readonly Envelope[] },
      world: World,
    ) => Promise<Envelope[]> | Envelope[],
  ) =>
  (world: World, bench: Bench): Promise<unknown> =>
    submitting(async () => {
      const { deploy, deployNext } = world.actors
      const held = [...world.vaults.values()].map(({ dek }) => dek)
      return change(await rotateKey({ org: ORG, at: world.now, held }, deploy, deployNext), world)
    })(world, bench)

/** One replacement of the batch exchanged for another wrap, and the event signed over it. */
const withReplacement = (make: (honest: Envelope, world: World) => Promise<Envelope>) =>
  rotating(async ({ event, replacements: [first, ...rest] }, world) => {
    const { deploy, deployNext } = world.actors
    const other = await make(first as Envelope, world)
    const { batch } = JSON.parse(atob(event.payload)) as { batch: { wrapHash: string }[] }
    const changed = batch.map((entry) =>
      entry.wrapHash === documentHash(first as Envelope) ? { ...entry, wrapHash: documentHash(other) } : entry,
    )
    return [await forge(keyRotate, event, { batch: changed as never }, deploy, deployNext), other, ...rest]
  })

const dekOf = (world: World) => (world.vaults.get(world.prod) as StoredVault).dek

export const GRANTS: readonly Attack[] = [
  {
    id: 'rotation-without-old-key',
    row: 16,
    title: 'a rotation that the old key did not sign',
    code: 'missing_signature',
    run: rotating(async ({ event, replacements }, world) => [
      await forge(keyRotate, event, {}, world.actors.deployNext),
      ...replacements,
    ]),
  },
  {
    id: 'rotation-to-other-agent',
    row: 16,
    title: 'an agent that rotates into the name of another',
    code: 'key_substitution',
    run: submitting(async (world) => {
      const { deploy } = world.actors
      const ghost = await identityOf('mallory', 'agent:ag_worker')
      return makeDocument(keyRotate, rotation(world, deploy, ghost), [deploy, ghost])
    }),
  },
  {
    id: 'rotation-drops-vault',
    row: 11,
    title: 'a rotation that loses one vault on the way',
    code: 'incomplete_batch',
    run: rotating(async ({ event, replacements }, world) => {
      const { deploy, deployNext } = world.actors
      const { batch } = JSON.parse(atob(event.payload)) as { batch: { wrapHash: string }[] }
      const [dropped, ...kept] = batch as [{ wrapHash: string }]
      const changed = await forge(keyRotate, event, { batch: kept as never }, deploy, deployNext)
      return [changed, ...replacements.filter((wrap) => documentHash(wrap) !== dropped.wrapHash)]
    }),
  },
  {
    id: 'rotation-wrap-withheld',
    row: 11,
    title: 'a rotation whose batch names a wrap that does not come with it',
    code: 'incomplete_batch',
    run: rotating(({ event, replacements }) => [event, ...replacements.slice(1)]),
  },
  {
    id: 'rotation-wrap-added',
    row: 11,
    title: 'a rotation that comes with a wrap its batch does not name',
    code: 'incomplete_batch',
    run: rotating(async ({ event, replacements }, world) => {
      const { deploy, deployNext } = world.actors
      return [event, ...replacements, await wrapDek(dekOf(world), deployNext.key, deploy, world.now + 1)]
    }),
  },
  {
    id: 'rotation-wrap-exchanged',
    row: 11,
    title: 'a rotation that comes with another wrap than its batch names',
    code: 'incomplete_batch',
    run: rotating(async ({ event, replacements }, world) => {
      const { deploy, deployNext } = world.actors
      return [event, await wrapDek(dekOf(world), deployNext.key, deploy, world.now + 1), ...replacements.slice(1)]
    }),
  },
  {
    id: 'rotation-wrap-by-other',
    row: 13,
    title: 'a replacement that somebody else wrapped',
    code: 'wrap_context',
    run: withReplacement((honest, world) => forge(wrappedDek, honest, {}, world.actors.bob)),
  },
  {
    id: 'rotation-wrap-of-other-vault',
    row: 13,
    title: 'a replacement of the key of another vault',
    code: 'wrap_context',
    run: withReplacement((honest, world) =>
      forge(wrappedDek, honest, { vaultId: `v${'a'.repeat(32)}` }, world.actors.deploy),
    ),
  },
  {
    id: 'rotation-wrap-of-other-key',
    row: 12,
    title: 'a replacement of another vault key than everybody has',
    code: 'dek_commitment',
    run: withReplacement((honest, world) => forge(wrappedDek, honest, { dekCommit: SEAL }, world.actors.deploy)),
  },
  {
    id: 'grant-by-writer',
    row: 10,
    title: 'a writer who grants the vault key',
    code: 'not_authorised',
    run: submitting((world) => wrapDek(dekOf(world), world.actors.carol.key, world.actors.bob, world.now)),
  },
  {
    id: 'grant-to-outsider',
    row: 14,
    title: 'an admin who grants the vault key to somebody who is not on the list',
    code: 'not_authorised',
    run: submitting((world) => wrapDek(dekOf(world), world.actors.dave.key, world.actors.alice, world.now)),
  },
  {
    id: 'grant-of-other-key',
    row: 12,
    title: 'a grant of a vault key that is not the vault’s',
    code: 'dek_commitment',
    run: submitting((world) => {
      const other = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 1 })
      return wrapDek(other, world.actors.carol.key, world.actors.alice, world.now)
    }),
  },
  {
    id: 'grant-of-retired-key',
    row: 11,
    title: 'a grant of a vault key that is not in use any more',
    code: 'dek_commitment',
    run: submitting(async (world) => {
      const { alice, carol } = world.actors
      return forge(wrappedDek, await wrapDek(dekOf(world), carol.key, alice, world.now), { dekVersion: 9 }, alice)
    }),
  },
  {
    id: 'grant-twice-in-one-act',
    row: 12,
    title: 'two grants of one vault key to one reader at once',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, carol } = world.actors
      return [
        await wrapDek(dekOf(world), carol.key, alice, world.now),
        await wrapDek(dekOf(world), carol.key, alice, world.now + 1),
      ]
    }),
  },
  {
    id: 'grant-of-no-vault',
    row: 14,
    title: 'a grant for a vault that does not exist',
    code: 'bad_transition',
    run: submitting((world) => {
      const dek = makeDek({ org: ORG, vaultId: `v${'a'.repeat(32)}`, dekVersion: 1 })
      return wrapDek(dek, world.actors.carol.key, world.actors.alice, world.now)
    }),
  },
  {
    id: 'grant-downgraded',
    row: 18,
    title: 'an RSA-only wrap for a hybrid key',
    code: 'alg_downgrade',
    run: submitting((world) => {
      const { alice, hybrid } = world.actors
      return wrapDek(dekOf(world), { ...hybrid.key, kem: null }, alice, world.now)
    }),
  },
  {
    id: 'grant-by-tainted-admin',
    row: 16,
    title: 'an admin whom a compromised key had endorsed and who grants on',
    code: 'signer_compromised',
    run: submitting(async (world) => {
      const { alice, dave, carol, mallory } = world.actors
      await addKey(world, mallory, ['member'], dave)
      const grants = [{ dek: dekOf(world), to: mallory.key }]
      await changeVault(world, { acl: aclWith(world, { 'user:ou_mallory': 'admin' }), grants }, alice)
      await revokeKey(world, dave.kid, 'compromised', alice)
      return wrapDek(dekOf(world), carol.key, mallory, world.now)
    }),
  },
]
