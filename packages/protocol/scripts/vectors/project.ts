import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { type Chronicle, openChronicle, SALT, sign } from './chronicle.ts'
import { addOf, genesisOf } from './directory.ts'
import type { VectorFile } from './file.ts'
import { foundVault } from './key-ends.ts'

// Section 4.7: which vaults belong to a project is signed, or a server could answer with the wrong one's secrets.

interface Desk extends Chronicle {
  readonly vaults: readonly [string, string]
}

async function openDesk(): Promise<Desk> {
  const c = await openChronicle()
  const { alice, bob, dave, worker } = c
  await c.act('the founding of this log', await genesisOf([alice]))
  for (const who of [bob, dave]) await c.act(`the key of ${who.key.principal}`, await addOf(alice, who, ['member']))
  await c.act('an agent with RSA only', await addOf(alice, worker, ['agent']))
  const first = await foundVault(c, 'a vault', [bob])
  const second = await foundVault(c, 'another vault', [bob])
  return { ...c, vaults: [first.vaultId, second.vaultId] }
}

const createOf = (by: Identity, admins: readonly string[] = [by.key.principal]): Promise<Envelope> =>
  sign('project.create', { admins, salt: SALT }, by)

const setOf = ({ vaults }: Desk, creation: Envelope, by: Identity, change: object = {}): Promise<Envelope> => {
  const projectId = deriveProjectId(documentHash(creation))
  const members = { projectId, slug: 'payments', name: 'Payments', status: 'active', vaults: vaults.slice(0, 1) }
  return sign('project.set', { ...members, projectVersion: 1, prev: '', ...change }, by)
}

async function refuseCreations(desk: Desk, first: Envelope): Promise<void> {
  const { alice, bob, worker } = desk
  const set = (by: Identity, change: object = {}) => setOf(desk, first, by, change)
  const both = async (creation: Envelope, by: Identity) => [creation, await setOf(desk, creation, by)]
  const other = await createOf(alice, ['user:ou_alice', 'user:ou_bob1'])
  desk.no('a project without its creation', 'bad_transition', [await set(alice)])
  desk.no('a project under another id', 'vault_swap', [other, await set(alice)])
  desk.no(
    'a project whose creator is not among its admins',
    'not_authorised',
    await both(await createOf(alice, ['user:ou_bob1']), alice),
  )
  desk.no('a project by a key with RSA only', 'not_authorised', await both(await createOf(worker), worker))
  desk.no('a project with a vault that is not there', 'bad_transition', [
    first,
    await set(alice, { vaults: [`v${'a'.repeat(32)}`] }),
  ])
  desk.no('a project that begins with its second version', 'bad_transition', [
    first,
    await set(alice, { projectVersion: 2 }),
  ])
  desk.no('a project set by somebody else', 'not_authorised', [first, await set(bob)])
  desk.no('a creation alone', 'bad_transition', [first])
}

async function refuseChanges(desk: Desk, first: Envelope, prev: string): Promise<void> {
  const { alice, bob, vaults } = desk
  const next = (by: Identity, change: object = {}) => setOf(desk, first, by, { projectVersion: 2, prev, ...change })
  desk.no('the project is created again', 'bad_transition', [first, await next(alice)])
  desk.no('by somebody who does not administer it', 'not_authorised', [await next(bob)])
  desk.no('without its predecessor', 'bad_transition', [await next(alice, { prev: '' })])
  desk.no('vaults in another order', 'malformed', [await next(alice, { vaults: [...vaults].sort().reverse() })])
  const admins = (list: readonly string[], by: Identity) => adminsOf(first, list, by)
  const both = ['user:ou_alice', 'user:ou_bob1']
  desk.no('an admin who makes himself one', 'not_authorised', [await admins(both, bob), await next(alice)])
  desk.no('no admins', 'bad_transition', [await admins([], alice), await next(alice)])
  desk.no('a new admin acts in the leaf that makes him one', 'not_authorised', [
    await admins(both, alice),
    await next(bob),
  ])
}

const adminsOf = (creation: Envelope, admins: readonly string[], by: Identity): Promise<Envelope> => {
  const prev = documentHash(creation)
  return sign('project.admins', { projectId: deriveProjectId(prev), adminsVersion: 2, admins, prev }, by)
}

export async function makeProject(): Promise<VectorFile> {
  const desk = await openDesk()
  const { alice, bob, vaults } = desk
  const first = await createOf(alice)
  await refuseCreations(desk, first)
  const made = await setOf(desk, first, alice)
  await desk.act('a project with one vault', first, made)
  await refuseChanges(desk, first, documentHash(made))
  const second = await setOf(desk, first, alice, {
    projectVersion: 2,
    prev: documentHash(made),
    vaults: [...vaults].sort(),
  })
  const admins = await adminsOf(first, ['user:ou_alice', 'user:ou_bob1'], alice)
  await desk.act('a second vault and a second admin', second, admins)
  const archived = { projectVersion: 3, prev: documentHash(second), status: 'archived' }
  await desk.ok('the second admin archives the project', [await setOf(desk, first, bob, archived)])
  return desk.file({
    vectors: 'project',
    section: '4.7',
    comment: 'A log with a project: who may say which vaults belong to it.',
  })
}
