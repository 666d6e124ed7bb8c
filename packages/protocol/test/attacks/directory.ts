import { keyAdd, orgGenesis } from '../../src/directory/documents.ts'
import { documentHash, makeDocument } from '../../src/identity/document.ts'
import { type KidState, kidName } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { valueText } from '../../src/values/field.ts'
import { identityOf } from '../world/actors.ts'
import { addKey, revokeKey, rotateAgent } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import {
  alterState,
  forge,
  forgetState,
  impostor,
  kidStateOf,
  logged,
  logHead,
  logKid,
  logWriter,
  namedAs,
  tamper,
  vaultStateOf,
  withoutSignature,
} from './powers.ts'

// Rows 9, 16 and 19: foreign keys under known names. The server logs every entry falsely; only signatures can stop it.

export const member = (world: World) => ({ org: ORG, caps: ['member'] as const, at: world.now })

export const DIRECTORY_HONEST: readonly Honest[] = [
  {
    id: 'directory-honest-chain',
    theme: 'directory',
    title: 'a key endorsed by an admin whom an admin endorsed is known',
    run: async (world, { client }) => {
      const { dave, mallory, alice } = world.actors
      await addKey(world, mallory, ['member'], dave)
      await revokeKey(world, dave.kid, 'removed', alice)
      const { resolve } = (await client.head(await withKid(world, mallory.kid, dave.kid))).vault.directory
      if ((await resolve(mallory.kid)).entry.status !== 'active') throw new Error('not resolved')
    },
  },
  {
    id: 'directory-honest-rotation',
    theme: 'directory',
    title: 'a client that knows the old key of an agent accepts the one it rotated to',
    run: async (world, bench) => {
      const { deployNext } = world.actors
      await bench.client.learn()
      await rotateAgent(world)
      const next = bench.clientOf(deployNext)
      const { fields } = await next.read(await next.ask())
      if (valueText((fields[0] as (typeof fields)[0]).value) === '') throw new Error('nothing read')
    },
  },
]

/** An answer that also brings what is needed to resolve one more key. */
export async function withKid(world: World, ...kids: readonly string[]) {
  const answer = await world.answer(world.prod, world.actors.deploy, { names: kids.map(kidName) })
  const records = kids.map((kid) => logged(world, kidStateOf(world, kid).rec))
  const known = new Set(answer.records.map(documentHash))
  const capSets = kids.flatMap((kid) => kidStateOf(world, kid).capSets.map(({ docHash }) => logged(world, docHash)))
  return tamper(answer, (copy) => {
    copy.records.push(...(structuredClone(records.filter((one) => !known.has(documentHash(one)))) as never[]))
    copy.capSets.push(...(structuredClone(capSets) as never[]))
  })
}

export const DIRECTORY: readonly Attack[] = [
  {
    id: 'directory-unsigned-entry',
    row: 9,
    title: 'a key whose registration no admin signed',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const ghost = await impostor()
      const record = await registerKey(member(world), world.actors.alice, ghost)
      await logWriter(world, ghost, withoutSignature(record, world.actors.alice.kid))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-forged-endorsement',
    row: 9,
    title: 'a registration that carries the signature of another document',
    code: 'bad_signature',
    run: async (world, { client }) => {
      const ghost = await impostor()
      const { alice, bob } = world.actors
      const record = await registerKey(member(world), namedAs(bob, alice.kid), ghost)
      await logWriter(world, ghost, record)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-self-endorsed',
    row: 9,
    title: 'a key that endorses itself',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const ghost = await impostor()
      await logWriter(
        world,
        ghost,
        await makeDocument(keyAdd, { ...member(world), kid: ghost.kid, key: ghost.key.bundle }, [ghost]),
      )
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-endorsed-by-member',
    row: 9,
    title: 'a key endorsed by somebody who is not an admin',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const ghost = await impostor()
      await logWriter(world, ghost, await registerKey(member(world), world.actors.carol, ghost))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-agent-manager-endorses-user',
    row: 9,
    title: 'an agent-manager who endorses a person',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { mallory, alice } = world.actors
      await addKey(world, mallory, ['agent-manager', 'member'], alice)
      const ghost = await identityOf('malloryNext', 'user:ou_bob1')
      await logWriter(world, ghost, await registerKey(member(world), mallory, ghost))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-foreign-key-under-known-id',
    row: 9,
    title: 'another public key under the key id of a member, endorsed by a dishonest admin',
    code: 'key_substitution',
    run: async (world, { client }) => {
      const { bob, dave, mallory } = world.actors
      const record = await registerKey(member(world), dave, { ...mallory, kid: bob.kid })
      alterState<KidState>(world, kidName(bob.kid), { rec: documentHash(record) }, [record])
      await logHead(world, {}, namedAs(mallory, bob.kid))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-key-under-other-name',
    row: 9,
    title: 'a genuine registration of Mallory shown as one of Bob',
    code: 'key_substitution',
    run: async (world, { client }) => {
      const { mallory, alice } = world.actors
      const ghost = await impostor()
      await logWriter(world, ghost, await registerKey(member(world), alice, mallory))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-no-possession',
    row: 9,
    title: 'a registration that the new key did not sign',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const { dave } = world.actors
      const ghost = await impostor()
      await logWriter(world, ghost, withoutSignature(await registerKey(member(world), dave, ghost), ghost.kid))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-missing-record',
    row: 9,
    title: 'a signer without the record that brought it in',
    code: 'unknown_signer',
    run: async (_world, { client }) =>
      client.read(
        tamper(await client.ask(), (copy) => {
          copy.records = []
        }),
      ),
  },
  {
    id: 'directory-endorser-withheld',
    row: 9,
    title: 'a signer whose endorser the answer does not prove',
    code: 'unknown_signer',
    run: async (world, { client }) => {
      const { dave } = world.actors
      const ghost = await impostor()
      await logWriter(world, ghost, await registerKey(member(world), dave, ghost))
      return client.read(tamper(await client.ask(), (copy) => forgetState(copy, kidName(dave.kid))))
    },
  },
  {
    id: 'directory-state-of-other-key',
    row: 9,
    title: 'the state of one key logged under the name of another',
    code: 'unknown_signer',
    run: async (world, { client }) => {
      const { bob, carol } = world.actors
      alterState<KidState>(world, kidName(bob.kid), { kid: carol.kid })
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-record-of-other-kind',
    row: 24,
    title: 'a signed document that is no registration as the record of a key',
    code: 'wrong_type',
    run: async (world, { client }) => {
      const ghost = await impostor()
      logKid(world, ghost.kid, logged(world, vaultStateOf(world).aclHash))
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-false-founder',
    row: 9,
    title: 'a key that claims to be of the founders',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const ghost = await impostor()
      logKid(world, ghost.kid, world.genesis, { added: 0 })
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-other-genesis',
    row: 9,
    title: 'a whole organisation that the server founded under the same id',
    code: 'genesis_mismatch',
    run: async (world, { client }) => {
      const { mallory } = world.actors
      const admins = [{ kid: mallory.kid, key: mallory.key.bundle }]
      const genesis = await forge(orgGenesis, world.genesis, { admins }, mallory)
      return client.read(
        tamper(await client.ask(), (copy) => {
          copy.genesis = structuredClone(genesis) as never
        }),
      )
    },
  },
]
