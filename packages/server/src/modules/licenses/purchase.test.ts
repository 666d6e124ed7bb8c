import { createPublicKey, verify } from 'node:crypto'
import { money } from '@strongroom/contract'
import { valueText } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, outcomes } from '../../../test/people.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  handOffBody,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  openSealed,
  provisionersOf,
  statusOf,
  takeDelivery,
  takeTurns,
} from '../../../test/provider/license-buyer.ts'
import { edit, makeVault, moveCommits, readItem, vaultKeys } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'
import { creditOf, ledgerDifferences } from '../../ledger/ledger.ts'
import { budgetDifferences } from '../budgets/reserve.ts'

// Buying from the built-in issuer: from the money to an item in a vault. Catches: a purchase that is refused and leaves something behind,
// a credential that more than its buyer is shown, a sealed credential that stays, an item with other fields or in another vault than
// was bought, a hand-off that completes twice, money that does not add up.
// Seen red: the buyer not compared in the status and in the hand-off; the sealed row left; labels, destination and receipt not compared;
// the capture left out; the provisioner not asked for.

let h: Harness
let org: LicenseOrg
let buyer: Buyer
let other: Buyer
beforeAll(async () => {
  h = await startHarness()
  org = await makeLicenseOrg(h, 'acme')
  buyer = await makeBuyer(h, org)
  other = await makeBuyer(h, org, 'deployNext')
  await giveCredit(h, org.orgId, 1_000_000_000n)
})
afterAll(() => h.close())

const balance = () => inOrg(h.deps, org.orgId, (db) => creditOf(db, org.orgId))
const booksAreRight = async (): Promise<void> => {
  const wrong = await inOrg(h.deps, org.orgId, async (db) => [
    ...(await ledgerDifferences(db, org.orgId)),
    ...(await budgetDifferences(db, org.orgId)),
  ])
  expect(wrong).toEqual([])
}
/** Everything that a refused request must leave alone. */
const stored = () =>
  inOrg(h.deps, org.orgId, async (db) => {
    const all: unknown[] = []
    for (const table of [
      'license_purchase',
      'license_sealed',
      'license_instance',
      'license_transition',
      'ledger_transfer',
      'budget_reservation',
      'outbox_event',
      'vault',
      'vault_item',
      'log_leaf',
    ] as const)
      all.push(
        (await db.selectFrom(table).selectAll().execute())
          .map((row) => JSON.stringify(row))
          // Told although nothing else is left of the purchase.
          .filter((row) => !row.includes('"type":"budget.exceeded"'))
          .sort(),
      )
    return JSON.stringify(all)
  })

it('holds the price, orders, captures, hands over into a new vault and forgets the sealed credential', async () => {
  const before = await balance()
  const started = await buy(buyer)
  expect(started).toMatchObject({
    status: 'reserved',
    stage: 'money',
    price: money(12_500_000n),
    nextAction: { type: 'poll' },
    vault: { mode: 'new', name: 'Licences', vaultId: null },
  })
  expect((await balance()).held).toBe(before.held + 12_500_000n)
  await takeTurns(h)
  const waiting = await statusOf(buyer, started.purchaseId)
  expect(waiting).toMatchObject({
    status: 'awaiting_handoff',
    sealing: 'at_source',
    nextAction: { type: 'complete_vault_item' },
    handoff: { schema: [{ label: 'SANDBOX_LICENSE_KEY', isEnvironmentVariable: true, required: true }] },
  })
  expect(await balance()).toMatchObject({ held: before.held, posted: before.posted - 12_500_000n })
  const { vaultId, itemId, answer, fields } = await takeDelivery(h, buyer, started.purchaseId)
  expect(answer.purchase).toMatchObject({
    status: 'completed',
    itemId,
    vault: { vaultId },
    nextAction: { type: 'none' },
  })
  expect(answer.purchase.transitions.map(({ to }) => to)).toEqual([
    'reserved',
    'provisioning',
    'awaiting_handoff',
    'completed',
  ])
  expect('handoff' in answer.purchase).toBe(false)
  const { item } = await readItem(buyer, vaultId, itemId)
  expect(item.fields.map(({ label }) => label)).toEqual(['SANDBOX_LICENSE_KEY'])
  expect((await vaultKeys(buyer, vaultId)).size).toBe(1)
  expect(valueText(fields[0]?.value ?? { type: 0, value: new Uint8Array() })).toMatch(
    /^key\/[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/,
  )
  const kept = await inOrg(h.deps, org.orgId, (db) => db.selectFrom('license_sealed').selectAll().execute())
  expect(kept).toEqual([])
  await booksAreRight()
})

it('gives the environment of a licence to readers of the vault that its item lies in, also when it has moved', async () => {
  const { purchaseId, licenseInstanceId } = await buy(buyer)
  await takeTurns(h)
  const { vaultId, itemId } = await takeDelivery(h, buyer, purchaseId)
  const environment = (of: Buyer) => of.client.licenses.environment({ params: { licenseInstanceId } })
  expect(await environment(buyer)).toMatchObject({ vaultId, itemId })
  const to = await makeVault(buyer, { with: [{ identity: other.identity, role: 'read' }] })
  const item = edit(itemId, { SANDBOX_LICENSE_KEY: 'as before' })
  const body = await moveCommits(buyer, item, { from: vaultId, to })
  await buyer.client.items.move({ params: { id: itemId }, body })
  expect(await environment(buyer)).toMatchObject({ vaultId: to, itemId, data: [{ row: { itemId } }] })
  expect(await environment(other)).toMatchObject({ vaultId: to })
  const { data } = await buyer.client.licenses.list()
  expect(data.find((one) => one.licenseInstanceId === licenseInstanceId)).toMatchObject({ vaultId: to, itemId })
})

it('sells a key that anybody can verify with the published keys', async () => {
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'sandbox-once')
  await takeTurns(h)
  const { fields } = await openSealed(buyer, await statusOf(buyer, purchaseId), await provisionersOf(h))
  const [key = '', number] = fields.map(({ value }) => valueText(value))
  expect(number).toBe(licenseInstanceId)
  const { keys } = (await (await fetch(`${h.url}/.well-known/license-issuer-keys.json`)).json()) as {
    keys: { kid: string; x: string; kty: string; crv: string }[]
  }
  const [signed = '', signature = ''] = key.split('.')
  const payload = JSON.parse(Buffer.from(signed.slice(4), 'base64url').toString())
  expect(payload).toMatchObject({ lic: licenseInstanceId, sub: org.orgId, sku: 'sandbox-once', kid: keys[0]?.kid })
  expect('exp' in payload).toBe(false)
  const publicKey = createPublicKey({ key: keys[0] ?? {}, format: 'jwk' })
  expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  expect(verify(null, Buffer.from(`${signed}x`), publicKey, Buffer.from(signature, 'base64url'))).toBe(false)
  await takeDelivery(h, buyer, purchaseId)
})

it('hands over into a vault that is there, once, and answers the same request alike', async () => {
  const vaultId = await makeVault(buyer)
  const { purchaseId } = await buyer.client.licenses.purchase({
    body: { licenseId: 'sandbox-monthly', vault: { vaultId } },
  })
  await takeTurns(h)
  const waiting = await statusOf(buyer, purchaseId)
  const first = await handOffBody(buyer, waiting, await provisionersOf(h))
  const second = await handOffBody(buyer, waiting, await provisionersOf(h))
  const send = ({ body }: typeof first) => buyer.client.licenses.handOff({ params: { purchaseId }, body })
  const { purchase } = await send(first)
  expect(purchase).toMatchObject({ status: 'completed', itemId: first.itemId, vault: { vaultId } })
  const before = await stored()
  expect((await send(first)).purchase).toEqual(purchase)
  expect(await codeOf(send(second))).toBe('handoff_already_completed')
  expect(await stored()).toBe(before)
})

it('takes no item with other fields, in another place, or without a receipt of this hand-off', async () => {
  const vaultId = await makeVault(buyer)
  const elsewhere = await makeVault(buyer)
  const { purchaseId } = await buyer.client.licenses.purchase({
    body: { licenseId: 'sandbox-monthly', vault: { mode: 'existing', vaultId } },
  })
  const send = (body: Awaited<ReturnType<typeof handOffBody>>['body']) =>
    buyer.client.licenses.handOff({ params: { purchaseId }, body })
  await takeTurns(h)
  const waiting = await statusOf(buyer, purchaseId)
  const provisioners = await provisionersOf(h)
  const good = await handOffBody(buyer, waiting, provisioners)
  const renamed = await handOffBody(buyer, waiting, provisioners, (item) => ({
    ...item,
    fields: item.fields.map((field) => ({ ...field, label: 'OTHER_KEY' })),
  }))
  const moved = await handOffBody(buyer, { ...waiting, vault: { ...waiting.vault, vaultId: elsewhere } }, provisioners)
  const before = await stored()
  expect(
    await outcomes([
      send(renamed.body),
      send(moved.body),
      send({ ...good.body, receipt: renamed.body.receipt }),
      send({ ...good.body, receipt: moved.body.receipt }),
    ]),
  ).toEqual([
    'handoff_schema_mismatch',
    'vault_destination_invalid',
    'handoff_signature_invalid',
    'handoff_signature_invalid',
  ])
  expect(await stored()).toBe(before)
  expect((await send(good.body)).purchase.status).toBe('completed')
})

it('shows the sealed credential to its buyer alone', async () => {
  const { purchaseId } = await buy(buyer)
  const early = await handOffBody(buyer, { ...(await statusOf(buyer, purchaseId)) }, []).catch(() => undefined)
  expect(early).toBeUndefined()
  await takeTurns(h)
  const mine = await handOffBody(buyer, await statusOf(buyer, purchaseId), await provisionersOf(h))
  const seenByOwner = await statusOf(org.founder, purchaseId)
  expect([seenByOwner.status, 'handoff' in seenByOwner]).toEqual(['awaiting_handoff', false])
  const foreign = await makeBuyer(h, await makeLicenseOrg(h, 'other'), 'bob')
  const params = { purchaseId }
  expect(
    await outcomes([
      statusOf(other, purchaseId),
      statusOf(foreign, purchaseId),
      other.client.licenses.handOff({ params, body: mine.body }),
      org.founder.client.licenses.handOff({ params, body: mine.body }),
      other.client.licenses.resumePurchase({ params }),
    ]),
  ).toEqual(Array(5).fill('purchase_not_found'))
  expect((await foreign.client.licenses.list()).data).toEqual([])
  expect((await other.client.licenses.list()).data).toEqual([])
  const all = (await org.founder.client.licenses.list()).data.map((one) => one.purchaseId)
  expect(all).toContain(purchaseId)
  await takeDelivery(h, buyer, purchaseId)
})

it('refuses what cannot be bought, and leaves nothing behind', async () => {
  const poor = await makeLicenseOrg(h, 'poor')
  const broke = await makeBuyer(h, poor, 'carol')
  const unnamed = await makeBuyer(h, await makeLicenseOrg(h, 'unnamed', false), 'dave')
  const keyless = await h.agent(org, ['machine.all'])
  const manager = await h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const bound = await makeBuyer(h, org, 'hybrid')
  const rsaOnly = await makeBuyer(h, org, 'worker')
  const noVaults = await makeBuyer(h, org, 'mallory', ['machine.license.all'])
  await manager.client.budgets.create({
    body: { subjectType: 'agent', subjectId: bound.agentId, windows: [{ kind: 'daily', limit: money(5n) }] },
  })
  const vault = { mode: 'new', name: 'x' } as const
  const before = await stored()
  const licenseId = 'sandbox-once'
  const ask = (client: Buyer['client'], body: Parameters<Buyer['client']['licenses']['purchase']>[0]['body']) =>
    client.licenses.purchase({ body })
  expect(
    await outcomes([
      ask(buyer.client, { licenseId: 'nothing-such', vault }),
      ask(buyer.client, { licenseId, vault, maxPrice: money(1n) }),
      ask(buyer.client, { licenseId, vault: { vaultId: `v${'a'.repeat(32)}` } }),
      ask(keyless.client, { licenseId, vault }),
      ask(unnamed.client, { licenseId, vault }),
      ask(rsaOnly.client, { licenseId, vault }),
      ask(noVaults.client, { licenseId, vault }),
      ask(bound.client, { licenseId, vault }),
      ask(broke.client, { licenseId, vault }),
      ask(manager.client, { licenseId, vault }),
    ]),
  ).toEqual([
    'license_not_found',
    'quote_expired',
    'vault_not_found',
    'recipient_key_missing',
    'provisioner_not_named',
    'vault_destination_invalid',
    'machine_permission_denied',
    'budget_exceeded',
    'insufficient_credit',
    'machine_permission_denied',
  ])
  expect(await stored()).toBe(before)
  await expect(ask(keyless.client, { licenseId, vault })).rejects.toMatchObject({
    details: { principal: `agent:${keyless.agentId}`, name: expect.stringMatching(/\S/) },
    hint: expect.stringContaining('strongroom agent pending'),
  })
})

it('reminds of what waits, after an hour, a day and a week, and no more', async () => {
  const { purchaseId } = await buy(buyer)
  await takeTurns(h)
  const told = async () =>
    (
      await inOrg(h.deps, org.orgId, (db) =>
        db.selectFrom('outbox_event').select('body').where('type', '=', 'license.purchase.handoff_reminder').execute(),
      )
    ).filter(({ body }) => body.includes(purchaseId)).length
  const counts: number[] = []
  for (const ms of [3_590_000, 20_000, 86_400_000, 7 * 86_400_000, 30 * 86_400_000]) {
    h.advance(ms)
    await takeTurns(h)
    counts.push(await told())
  }
  expect(counts).toEqual([0, 1, 2, 3, 3])
  expect((await statusOf(buyer, purchaseId)).status).toBe('awaiting_handoff')
})

it('gives test credit once for each organisation', async () => {
  const fresh = await makeLicenseOrg(h, 'fresh', false)
  const { client } = fresh.founder
  expect(await client.licenses.sandboxCredit()).toEqual({
    granted: money(100_000_000n),
    available: money(100_000_000n),
  })
  expect(await outcomes([client.licenses.sandboxCredit(), client.licenses.sandboxCredit()])).toEqual(
    Array(2).fill('sandbox_credit_granted'),
  )
  expect(await client.billing.balance()).toMatchObject({ available: money(100_000_000n) })
})
