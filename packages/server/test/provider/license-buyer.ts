import type { Purchase } from '@strongroom/contract'
import {
  buildCommit,
  defaultPolicy,
  EMPTY_CONTENT,
  type HandoffField,
  type ItemEdit,
  makeDocument,
  makeHandoffReceipt,
  makeId,
  openHandoff,
  type Policy,
  peekDocument,
  planItem,
  policySet,
  signItem,
  termsOf,
  type VerifiedHandoff,
  vaultHead,
  verifyHandoff,
} from '@strongroom/protocol'
import { sql } from 'kysely'
import { inOrg } from '../../src/context.ts'
import { applyTransfers } from '../../src/ledger/ledger.ts'
import type { Providers } from '../../src/licenses/provider.ts'
import { makeProviders } from '../../src/licenses/providers.ts'
import { provisioningKey } from '../../src/licenses/sealer.ts'
import { takePurchaseTurn } from '../../src/modules/licenses/purchase-turn.ts'
import { takeTerminationTurn } from '../../src/modules/licenses/termination-turn.ts'
import type { KeyName } from '../actors.ts'
import { agentWriter } from '../agent-writer.ts'
import type { Harness, TestAgent } from '../harness.ts'
import { makeFoundedOrg } from '../matrix/founder.ts'
import { itemsCommit, vaultCommit, type Writer } from '../vault-writer.ts'

// Somebody who buys licences as the client does: verifies what was sealed, opens it, and signs the item.

export interface LicenseOrg {
  readonly orgId: string
  readonly tenantId: string
  readonly founder: Writer & { readonly tenantId: string }
}

/** The policy names the provisioning key of this server. */
async function namesProvisioner(h: Harness, { orgId, identity, client }: Writer): Promise<void> {
  const { rows } = await inOrg(h.deps, orgId, (db) =>
    sql<{ prev: string }>`
      select state ->> 'policyHash' as prev from map_state where org_id = ${orgId} and name = 'policy'`.execute(db),
  )
  const { principal } = (await provisioningKey(h.deps)).key
  const policy: Policy = { ...defaultPolicy(1), provisioners: [principal] }
  const members = { org: orgId, at: Date.now(), policyVersion: 2, policy, prev: rows[0]?.prev ?? '' }
  await client.directory.setPolicy({ body: { event: await makeDocument(policySet, members, [identity]) } })
}

export async function makeLicenseOrg(h: Harness, name: string, names = true): Promise<LicenseOrg> {
  const { orgId, tenantId, founder } = await makeFoundedOrg(h, name)
  const nothing = { canary: '', orgCanary: '', vaultCanary: '', hiddenCanary: '' }
  const { writer } = founder({ orgId, tenantId, parentId: null, ...nothing })
  if (names) await namesProvisioner(h, writer)
  return { orgId, tenantId, founder: { ...writer, tenantId } }
}

export async function giveCredit(h: Harness, orgId: string, amount: bigint, name = 'one'): Promise<void> {
  const about = { id: `fund:${name}`, group: `fund:${name}`, code: 'funding', refType: 'test', refId: name } as const
  const entry = { ...about, phase: 'single', dr: 'clearing:test', cr: 'credit', amount } as const
  await inOrg(h.deps, orgId, (db) => applyTransfers(db, orgId, [entry], h.deps.now()))
}

export type Buyer = TestAgent & Writer

export const makeBuyer = (
  h: Harness,
  { founder }: LicenseOrg,
  key: KeyName = 'deploy',
  permissions?: readonly string[],
) => agentWriter(h, founder, key, permissions) as Promise<Buyer>

/** Takes every turn that is due; the clock stands meanwhile. */
export async function takeTurns(h: Harness, providers: Providers = makeProviders(h.deps)): Promise<number> {
  const works = { deps: h.deps, worker: h.worker, providers }
  let turns = 0
  for (const take of [takePurchaseTurn, takeTerminationTurn]) while (await take(works)) turns += 1
  return turns
}

export const buy = (buyer: Writer, licenseId = 'sandbox-monthly', name = 'Licences'): Promise<Purchase> =>
  buyer.client.licenses.purchase({ body: { licenseId, vault: { mode: 'new', name } } })

export const statusOf = (buyer: Writer, purchaseId: string): Promise<Purchase> =>
  buyer.client.licenses.purchaseStatus({ params: { purchaseId } })

/** Verified against the policy that the caller knows, then opened. */
export async function openSealed(
  buyer: Writer,
  { purchaseId, licenseInstanceId, handoff }: Purchase,
  provisioners: readonly string[],
): Promise<{ readonly verified: VerifiedHandoff; readonly fields: readonly HandoffField[] }> {
  if (!handoff) throw new Error('there is nothing to hand over')
  const { destination, schema, provisioner, sealed } = handoff
  const fields = schema.map(({ label, isEnvironmentVariable }) => ({ label, env: isEnvironmentVariable }))
  const expected = { org: buyer.orgId, purchaseId, licenseInstanceId, destination, fields, provisioners }
  const verified = await verifyHandoff(sealed, provisioner, expected, buyer.identity)
  return { verified, fields: await openHandoff(verified, buyer.identity) }
}

const itemOf = (name: string, fields: readonly HandoffField[]): ItemEdit => ({
  itemId: makeId('itm'),
  name,
  website: '',
  status: 'active',
  assets: [],
  fields: fields.map(({ label, env, value }) => ({ fieldId: makeId('fld'), label, env, value })),
})

/** The creation of the vault and the commit on top of it, made without asking anybody. */
async function inNewVault(buyer: Writer, name: string, item: ItemEdit) {
  const { commit: creation, vaultId, dek } = await vaultCommit(buyer, { name })
  const base = peekDocument(vaultHead, creation.head)
  const place = { org: buyer.orgId, vaultId, at: Date.now() }
  const items = [await signItem(await planItem(dek, undefined, item), place, buyer.identity)]
  const input = { ...place, base, content: EMPTY_CONTENT, terms: termsOf(base.payload), items }
  return { vaultId, vaultCommit: creation, commit: (await buildCommit(input, buyer.identity)).commit }
}

export async function handOffBody(
  buyer: Writer,
  purchase: Purchase,
  provisioners: readonly string[],
  change: (item: ItemEdit) => ItemEdit = (item) => item,
) {
  const { verified, fields } = await openSealed(buyer, purchase, provisioners)
  const item = change(itemOf(purchase.name, fields))
  const { mode, name, vaultId: named } = purchase.vault
  const made =
    mode === 'new'
      ? await inNewVault(buyer, name ?? '', item)
      : { vaultId: named ?? '', commit: (await itemsCommit(buyer, named ?? '', [item])).commit }
  const { vaultId, ...commits } = made
  const receipt = await makeHandoffReceipt(verified, { vaultId, itemId: item.itemId }, buyer.identity, Date.now())
  return { vaultId, itemId: item.itemId, fields, body: { ...commits, receipt } }
}

export const provisionersOf = async (h: Harness): Promise<readonly string[]> => [
  (await provisioningKey(h.deps)).key.principal,
]

/** From a purchase that waits to one that is completed. */
export async function takeDelivery(h: Harness, buyer: Writer, purchaseId: string) {
  const body = await handOffBody(buyer, await statusOf(buyer, purchaseId), await provisionersOf(h))
  const answer = await buyer.client.licenses.handOff({ params: { purchaseId }, body: body.body })
  return { ...body, answer }
}
