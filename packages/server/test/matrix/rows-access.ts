import { anyone, people, permitted, type Row, type Slot } from './oracle.ts'
import { type Caller, holdsPermission, runsOrg, type Thing } from './relations.ts'
import { commitTo, itemFor, READING, roleIn, vaultFor, WRITING } from './rows-vaults.ts'
import { NOTHING } from './stand-ins.ts'

// Keys, access lists, and documents about vaults (decisions.md 4 and 6, docs/reference/protocol.md 4.6 and 5.9).

/** Active in the organisation: who endorses keys does it for every tenant, and the signature decides. */
const endorsed: Slot = {
  kind: 'agent',
  refuses: (_, { relation }) => (relation === 'own' || relation === 'other-tenant' ? undefined : 'agent_not_found'),
  except: ['malformed'],
}

const signedBy = (route: string, more: object = {}): Row => ({
  route,
  may: people(),
  body: () => ({ event: NOTHING, ...more }),
  ends: 'invalid_document',
})

const keys: readonly Row[] = [
  { route: 'GET /machine/vault/public-key/pending', may: anyone },
  { route: 'GET /machine/vault/public-key/grants', may: anyone },
  {
    route: 'GET /machine/vault/public-key/directory',
    may: READING,
    // Keys are public in the organisation, and say nothing but whose they are.
    query: () => ({ principals: 'agent:agt_somebody' }),
  },
  {
    route: 'POST /machine/vault/public-key',
    may: anyone,
    // Only people and agents have keys, so nobody else can be named as the endorser.
    also: ({ type }) => (type === 'operator' ? 'invalid_document' : undefined),
    ids: { agent: endorsed },
    body: async ({ agent = '' }, { keyRequest }, _, caller) => ({ event: await keyRequest(agent, caller) }),
  },
  { route: 'GET /machine/vault/:vaultId/wrapped-keys', may: READING, ids: { vaultId: vaultFor('read') } },
  { route: 'GET /machine/vault/:vaultId/holders', may: READING, ids: { vaultId: vaultFor('read') } },
  {
    route: 'POST /machine/vault/:vaultId/wrapped-keys',
    may: WRITING,
    ids: { vaultId: vaultFor('admin') },
    body: () => ({ wraps: [NOTHING] }),
    ends: 'invalid_document',
  },
  { route: 'GET /machine/user-key-pair', may: people() },
  signedBy('POST /machine/user-key-pair'),
  signedBy('POST /machine/user-key-pair/rotate', {
    replacements: [],
    bundleVersion: 2,
    privateBundle: 'vub3.AAAA',
  }),
]

const LISTED = permitted('machine.permissions.read')
const LISTING = permitted('machine.permissions.write')

/** An item is shown to nobody whom its vault is not shown to. */
const subject: Slot = {
  kind: 'subject',
  refuses: (_, { relation }) => (relation === 'own' ? undefined : 'wider_than_vault'),
}

const permissions: readonly Row[] = [
  { route: 'GET /machine/vault/:vaultId/permissions', may: LISTED, ids: { vaultId: vaultFor('read') } },
  {
    route: 'PUT /machine/vault/:vaultId/permissions',
    may: LISTING,
    ids: { vaultId: vaultFor('admin') },
    body: ({ vaultId = '' }, material) => ({ commit: commitTo(material, vaultId) }),
    ends: 'invalid_document',
  },
  { route: 'GET /machine/vault-item/:id/permissions', may: LISTED, ids: { id: itemFor('read') } },
  {
    route: 'PUT /machine/vault-item/:id/permissions',
    may: LISTING,
    ids: { id: itemFor('admin'), subject },
    body: ({ subject }, _, __, { id }) => ({
      entries: [
        { principal: id.startsWith('operator:') ? 'user:usr_nobody' : id, role: 'ADMIN' },
        { principal: subject, role: 'READ' },
      ],
    }),
  },
]

/** Those who run the organisation and the operator's keys audit the whole log; others see what their lists open. */
const audits = (caller: Caller): boolean => caller.type === 'operator' || (caller.type === 'user' && runsOrg(caller))
const seesDocument = (caller: Caller, thing: Thing): boolean =>
  audits(caller) ? thing.place?.orgId === caller.home.orgId : roleIn(caller, thing) !== undefined

const about = (kind: 'vaultHead' | 'vaultCreation' | 'vaultWrap'): Row => ({
  route: 'GET /machine/transparency/doc/:hash',
  may: permitted('machine.transparency.read'),
  ids: {
    hash: {
      kind,
      refuses: (caller, thing) => {
        if (!seesDocument(caller, thing)) return 'document_not_found'
        const isDenied = kind === 'vaultWrap' && !holdsPermission(caller.permissions, 'machine.vault.secret.read')
        return isDenied ? 'machine_permission_denied' : undefined
      },
    },
  },
  reveals: true,
  ...(kind === 'vaultWrap' && { secret: true }),
})

const transparency: readonly Row[] = [
  about('vaultCreation'),
  about('vaultHead'),
  about('vaultWrap'),
  {
    // The states of the log are shown with their proofs to whoever may read the log: they name no names.
    route: 'GET /machine/transparency/state',
    may: permitted('machine.transparency.read'),
    ids: { vault: { kind: 'vault', refuses: () => undefined, except: ['malformed'] } },
    query: ({ vault }) => ({ name: `vault/${vault}` }),
  },
]

export const ACCESS: readonly Row[] = [...keys, ...transparency, ...permissions]
