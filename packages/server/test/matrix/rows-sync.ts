import type { ErrorCode } from '@strongroom/contract'
import { permitted, type Row, type Slot } from './oracle.ts'
import type { Caller } from './relations.ts'
import { READING, SECRETS, vaultFor, within } from './rows-vaults.ts'

// Reads over all vaults of the caller, and the older names of single ones (decisions.md 4 and 6): what is on none of the
// caller's lists is in none of these answers.

const isListed = ({ type }: Caller): boolean => type !== 'operator'
const atHome = (caller: Caller): readonly string[] => (isListed(caller) ? [caller.home.vaultCanary] : [])

const sync: readonly Row[] = [
  {
    route: 'GET /machine/vault/sync',
    may: permitted('machine.vault.sync.read'),
    shows: atHome,
    secret: isListed,
  },
  { route: 'GET /machine/vaults-data', may: SECRETS, shows: atHome, secret: isListed },
  {
    route: 'GET /machine/events',
    may: permitted('machine.monitoring.read'),
    query: () => ({ after: '0' }),
    shows: atHome,
    streams: true,
  },
  ...['canary hidden', 'canary vault'].map(
    (query): Row => ({
      route: 'POST /machine/search',
      may: permitted('machine.search.read'),
      body: () => ({ query, limit: 100 }),
      silent: true,
      shows: atHome,
    }),
  ),
]

const item = (notFound: ErrorCode): Slot => within('vaultId', 'vaultItem', notFound)

const aliases: readonly Row[] = [
  { route: 'GET /machine/vaults', may: READING, keysOnly: true, shows: atHome },
  { route: 'GET /machine/vaults/:vaultId', may: READING, keysOnly: true, ids: { vaultId: vaultFor('read') } },
  { route: 'GET /machine/vaults/:vaultId/items', may: READING, keysOnly: true, ids: { vaultId: vaultFor('read') } },
  {
    route: 'GET /machine/vaults/:vaultId/items/:itemId',
    may: SECRETS,
    keysOnly: true,
    ids: { vaultId: vaultFor('read'), itemId: item('vault_item_not_found') },
    secret: true,
  },
]

export const SYNC: readonly Row[] = [...sync, ...aliases]
