import { formatTrustAnchor, type Identity, openEnvironment, parseVkey, registerKey } from '@strongroom/protocol'
import { createClient } from '@strongroom/sdk'
import { inOrg } from '../src/context.ts'
import { LOG_KEY, openLog, openLogKey } from '../src/log/log-key.ts'
import { logAnchor } from '../src/log/transparency.ts'
import { identityOf } from '../test/actors.ts'
import { makeGenesis } from '../test/log-org.ts'
import { trustOf } from '../test/vault-writer.ts'
import { makeOrgLog, type OrgLog } from './org-log.ts'
import { itemEdit, makeVault, type WrittenVault, write, writeVaultRows } from './org-vaults.ts'
import { type Operator, openOperator, type Place, type SeededAgent, seedAgents, seedOrg } from './world.ts'

// An organisation with vaults of fifty fields, their readers and their writers; and, if it is to be a large one, with everything
// else that a large organisation has in its log.

export interface Growth {
  readonly entries: number
  readonly vaults: number
  readonly itemsPerVault: number
  /** In a vault of its own. */
  readonly listedItems: number
}

export interface Reader extends SeededAgent {
  readonly identity: Identity
  readonly vault: WrittenVault
}

export interface VaultWorld extends Place {
  readonly trustAnchor: string
  readonly readers: readonly Reader[]
  /** One vault for each writer. */
  readonly writers: readonly { readonly agent: SeededAgent; readonly vault: WrittenVault }[]
  /** Sees every vault of the growth. */
  readonly searcher: SeededAgent | undefined
  readonly listed: WrittenVault | undefined
  readonly entries: number
}

const READ_VAULTS = 40
const READERS_PER_VAULT = 10
export const WRITERS = 64
const ITEMS = 10
const FIELDS_PER_ITEM = 5
const ALL = ['machine.all']

interface Making {
  readonly operator: Operator
  readonly place: Place
  readonly log: OrgLog
  readonly founder: Identity
}

async function makeAgents(
  { operator, place, log, founder }: Making,
  count: number,
): Promise<(SeededAgent & { readonly identity: Identity })[]> {
  const agents = await seedAgents(operator, place, count, ALL)
  const known = []
  for (const agent of agents) {
    const identity = await identityOf('deploy', `agent:${agent.agentId}`)
    await log.append([await registerKey({ org: place.orgId, caps: ['agent'], at: Date.now() }, founder, identity)])
    known.push({ ...agent, identity })
  }
  return known
}

const serviceItem = (i: number, name: string) =>
  itemEdit(
    `itm_${name}_${i}`,
    `Service ${i}`,
    Object.fromEntries(
      Array.from({ length: FIELDS_PER_ITEM }, (_, j) => [
        `SERVICE_${i}_KEY_${j}`,
        `sk_live_${'x'.repeat(40)}_${i}_${j}`,
      ]),
    ),
  )

async function fiftyFields(log: OrgLog, name: string, owner: Identity, readers: readonly Identity[]) {
  const vault = await makeVault(log, name, owner, readers)
  await write(
    log,
    vault,
    Array.from({ length: ITEMS }, (_, i) => serviceItem(i, name)),
  )
  return vault
}

/** One item of a writer's vault with one field changed. */
export const oneField = ({ name }: WrittenVault, turn: number) => {
  const edit = serviceItem(turn % ITEMS, name)
  const [first, ...rest] = edit.fields
  return {
    ...edit,
    fields: [first, ...rest.map(({ value: _, ...kept }) => kept)].filter((field) => field !== undefined),
  }
}

async function grow(log: OrgLog, growth: Growth, owner: Identity, reader: Identity): Promise<WrittenVault[]> {
  const listed = await makeVault(log, 'listed', owner, [reader])
  const perCommit = 500
  for (let at = 0; at < growth.listedItems; at += perCommit)
    await write(
      log,
      listed,
      Array.from({ length: perCommit }, (_, i) =>
        itemEdit(`itm_l${at + i}`, `Listed ${at + i}`, { [`KEY_${at + i}`]: 'x' }),
      ),
    )
  const others = []
  for (let i = 0; i < growth.vaults; i++) {
    const vault = await makeVault(log, `Team ${i}`, owner, [reader])
    const items = Array.from({ length: growth.itemsPerVault }, (_, j) =>
      itemEdit(`itm_g${i}_${j}`, `Database ${i} ${j}`, { [`URL_${j}`]: 'x', note: 'y' }),
    )
    await write(log, vault, items)
    others.push(vault)
  }
  // The rest of the log: heads over nothing, which cost the least to make.
  const busy = await makeVault(log, 'Busy', owner)
  for (let turn = 0; log.size() < growth.entries; turn++) await write(log, busy, [], { name: `Busy ${turn}` })
  return [listed, busy, ...others]
}

async function openOrgLog(operator: Operator, place: Place): Promise<OrgLog> {
  const { orgId } = place
  await inOrg(operator, orgId, (db) => openLog(operator, db, orgId))
  const { rows } = await operator.admin.query('select sealed from server_secret where name = $1', [LOG_KEY])
  const { rows: logs } = await operator.admin.query('select origin from log_state where org_id = $1', [orgId])
  return makeOrgLog(orgId, logs[0].origin, openLogKey(operator, rows[0].sealed))
}

/** Put straight into the database of a running server, as a restore would. */
export async function makeVaultWorld(dataDirectory: string, growth?: Growth): Promise<VaultWorld> {
  const operator = await openOperator(dataDirectory)
  try {
    const place = await seedOrg(operator, 'vaults')
    const log = await openOrgLog(operator, place)
    const founder = await identityOf('alice', 'user:ou_alice')
    await log.append([await makeGenesis(place.orgId, [founder])])
    const making = { operator, place, log, founder }
    const readers = await makeAgents(making, READ_VAULTS * READERS_PER_VAULT)
    const writers = await makeAgents(making, WRITERS)
    const read: Reader[] = []
    const vaults: WrittenVault[] = []
    for (let i = 0; i < READ_VAULTS; i++) {
      const own = readers.slice(i * READERS_PER_VAULT, (i + 1) * READERS_PER_VAULT)
      const vault = await fiftyFields(
        log,
        `r${i}`,
        founder,
        own.map(({ identity }) => identity),
      )
      vaults.push(vault)
      read.push(...own.map((reader) => ({ ...reader, vault })))
    }
    const written = []
    for (const [i, agent] of writers.entries())
      written.push({ agent, vault: await fiftyFields(log, `w${i}`, agent.identity, []) })
    const [searcher] = growth ? await makeAgents(making, 1) : []
    const grown = growth && searcher ? await grow(log, growth, founder, searcher.identity) : []
    await log.write(operator.admin)
    await writeVaultRows(operator.admin, place, [...vaults, ...written.map(({ vault }) => vault), ...grown])
    await operator.admin.query('vacuum analyze')
    const trustAnchor = await anchorOf(operator, place)
    return { ...place, trustAnchor, readers: read, writers: written, searcher, listed: grown[0], entries: log.size() }
  } finally {
    await operator.close()
  }
}

async function anchorOf(operator: Operator, { orgId }: Place): Promise<string> {
  const anchor = await inOrg(operator, orgId, (db) => logAnchor(db, orgId))
  if (!anchor) throw new Error('the log has no beginning')
  const { genesis, origin, vkey } = anchor
  return formatTrustAnchor({
    org: orgId,
    genesis,
    origin,
    logVkeys: [parseVkey(vkey).vkey],
    tlogPolicy: 'quorum none\n',
  })
}

/** Reads as a client does: what was put into the tables is proven like anything else. */
export async function verifiedRead(baseUrl: string, world: VaultWorld, reader: Reader): Promise<number> {
  const { vaultId } = reader.vault
  const client = createClient({ baseUrl, apiKey: reader.apiKey })
  const { data, signed, wrappedKeys } = await client.vaults.environmentFields({
    params: { vaultId },
    query: { include: 'wrapped-key,signers' },
  })
  const writer = { ...world, identity: reader.identity, client }
  const answer = { ...signed, wrappedKeys, fields: data }
  return (await openEnvironment(answer, vaultId, trustOf(writer), reader.identity)).fields.length
}
