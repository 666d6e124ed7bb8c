import { changeAccess, registerKey } from '@strongroom/protocol'
import { identityOf } from '../actors.ts'
import {
  archiving,
  edit,
  endorse,
  itemsCommit,
  metaCommit,
  moveCommits,
  openVault,
  vaultCommit,
} from '../vault-writer.ts'
import { anyone, type Material, people, permitted, type Row, type Slot } from './oracle.ts'
import { SECRETS, WRITING } from './rows-vaults.ts'
import { itemIn } from './vault-set.ts'

// What only somebody with keys in the log can do, done once by the founder: the success of every write of vaults, and the reads
// of wrapped keys. Two writes are left to their modules' tests, since they need more keys than one person has here: a grant to a
// further key (modules/keys) and the rotation of a person's key (modules/user-keys).

const founders: Slot = { kind: 'foundersVault', refuses: () => undefined, except: ['absent', 'malformed'] }

const founder = { by: 'founder', may: WRITING } as const
const added = (material: Material) => [edit(`itm_${material.name().replaceAll(' ', '_')}`, { ADDED: '1' })]
const changed = (vaultId: string) => [edit(itemIn(vaultId), { CHANGED: '1' })]
const commitOf = async (...[writer, vaultId, edits]: Parameters<typeof itemsCommit>) => ({
  commit: (await itemsCommit(writer, vaultId, edits)).commit,
})
const itemPath = ({ vault = '' }) => ({ vaultId: vault, itemId: itemIn(vault), id: itemIn(vault) })

/** The same list once more, as its next version. */
async function sameList({ founder }: Material, vaultId: string) {
  const { head, content } = await openVault(founder, vaultId)
  const { commit } = await changeAccess({ head, content, acl: head.vault.acl.acl, at: Date.now() }, founder.identity)
  return { commit }
}

const adding = (path: string): Row => ({
  ...founder,
  route: `POST /machine/vault/:vaultId/${path}`,
  ids: { vaultId: founders },
  body: ({ vaultId = '' }, material) => commitOf(material.founder, vaultId, added(material)),
})

const vaults: readonly Row[] = [
  {
    ...founder,
    route: 'POST /machine/vault',
    body: async (_, { founder, name }) => ({ commit: (await vaultCommit(founder, { name: name() })).commit }),
  },
  {
    ...founder,
    route: 'PATCH /machine/vault/:id/update',
    ids: { id: founders },
    body: async ({ id = '' }, { founder, name }) => ({ commit: await metaCommit(founder, id, { name: name() }) }),
  },
  {
    ...founder,
    route: 'DELETE /machine/vault/:vaultId',
    ids: { vaultId: founders },
    body: async ({ vaultId = '' }, { founder }) => ({
      commit: await metaCommit(founder, vaultId, { status: 'archived' }),
    }),
  },
  {
    ...founder,
    route: 'PUT /machine/vault/:vaultId/permissions',
    may: permitted('machine.permissions.write'),
    ids: { vaultId: founders },
    body: ({ vaultId = '' }, material) => sameList(material, vaultId),
  },
]

const items: readonly Row[] = [
  ...['commits', 'items', 'import'].map(adding),
  {
    ...founder,
    route: 'PATCH /machine/vault-item/:id/update',
    ids: { vault: founders },
    path: itemPath,
    body: ({ vault = '' }, material) => commitOf(material.founder, vault, changed(vault)),
  },
  {
    ...founder,
    route: 'PATCH /machine/vault-item/:id/move',
    ids: { vault: founders, target: founders },
    path: itemPath,
    body: ({ vault = '', target = '' }, { founder }) =>
      moveCommits(founder, edit(itemIn(vault), { MOVED: '1' }), { from: vault, to: target }),
  },
  {
    ...founder,
    route: 'DELETE /machine/vault/:vaultId/items/:itemId',
    ids: { vault: founders },
    path: itemPath,
    body: async ({ vault = '' }, { founder }) =>
      commitOf(founder, vault, [await archiving(founder, vault, itemIn(vault))]),
  },
]

const reads: readonly Row[] = [
  {
    ...founder,
    route: 'GET /machine/vault/:vaultId/wrapped-key',
    may: anyone,
    ids: { vaultId: founders },
    secret: true,
  },
  {
    ...founder,
    route: 'GET /machine/vault/:vaultId/environment-fields',
    may: SECRETS,
    ids: { vaultId: founders },
    query: () => ({ include: 'wrapped-key,signers' }),
    secret: true,
  },
]

/** Last, since a key more is a key that later vaults would have to know of. */
const keys: readonly Row[] = [
  {
    ...founder,
    route: 'POST /machine/vault/public-key',
    may: anyone,
    ids: {
      agent: {
        kind: 'agent',
        refuses: () => undefined,
        except: ['other-tenant', 'other-org', 'archived', 'absent', 'malformed'],
      },
    },
    body: async ({ agent }, { founder }) => ({
      event: await endorse(founder, await identityOf('deploy', `agent:${agent}`)),
    }),
  },
  {
    ...founder,
    route: 'POST /machine/user-key-pair',
    may: people(),
    body: async (_, { founder: { identity, orgId } }) => {
      const further = await identityOf('carol', identity.key.principal)
      return { event: await registerKey({ org: orgId, caps: ['member'], at: Date.now() }, identity, further) }
    },
  },
]

export const SIGNED: readonly Row[] = [...vaults, ...items, ...reads, ...keys]
