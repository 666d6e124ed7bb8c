import { money } from '@strongroom/contract'
import {
  openVaultKeys,
  openVerifiedField,
  valueText,
  verifyItem,
  verifyItemRow,
  verifyVaultAnswer,
} from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf, outcomes } from '../../../test/people.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  handOffBody,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  provisionersOf,
  statusOf,
  takeDelivery,
  takeTurns,
} from '../../../test/provider/license-buyer.ts'
import { type ProviderScene, startProviderScene, withManners } from '../../../test/provider/provider-scene.ts'
import { PRICE } from '../../../test/provider/reference-provider.ts'
import { trustOf } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'
import { creditOf, ledgerDifferences } from '../../ledger/ledger.ts'
import { daysOf, monthAfter, refundOf } from '../../licenses/proration.ts'
import type { CancelOutcome, Providers } from '../../licenses/provider.ts'
import { budgetDifferences } from '../budgets/reserve.ts'
import { takeTerminationTurn } from './termination-turn.ts'

// Using a licence and ending it. Catches: an environment shown to who is on no list, or after the end; a refund that is paid twice, goes
// into another window or is more than was paid; a licence that ends here and runs on there.
// Seen red: the refund of the budget left out; the status of the licence not looked at; the provider not asked first; its refund not
// compared with what was paid; the sealed credential left when nobody took it; the list of the vault not asked; everybody's licences seen;
// one that is resumed asked for under the key that was refused.

const DAY_MS = 86_400_000
let scene: ProviderScene
let org: LicenseOrg
let buyer: Buyer
let stranger: Buyer
beforeAll(async () => {
  scene = await startProviderScene()
  org = await makeLicenseOrg(scene.h, 'acme')
  buyer = await makeBuyer(scene.h, org)
  stranger = await makeBuyer(scene.h, org, 'deployNext')
  await giveCredit(scene.h, org.orgId, 1000n * PRICE)
})
afterAll(async () => {
  await scene.provider.close()
  await scene.h.close()
})

const inDb = <T>(work: Parameters<typeof inOrg<T>>[2]) => inOrg(scene.h.deps, org.orgId, work)
const balance = () => inDb((db) => creditOf(db, org.orgId))
const turns = (providers: Providers = scene.providers) => takeTurns(scene.h, providers)
const booksAreRight = async (): Promise<void> => {
  const wrong = await inDb(async (db) => [
    ...(await ledgerDifferences(db, org.orgId)),
    ...(await budgetDifferences(db, org.orgId)),
  ])
  expect(wrong).toEqual([])
}

/** A licence that is in use. */
async function license(who: Buyer = buyer, slug = 'mail-pro') {
  const { purchaseId, licenseInstanceId } = await buy(who, slug)
  await turns()
  const { vaultId, itemId, fields } = await takeDelivery(scene.h, who, purchaseId)
  return { purchaseId, licenseInstanceId, vaultId, itemId, fields }
}
const terminate = (
  licenseInstanceId: string,
  more: { effective?: 'immediate' | 'period_end'; fallback?: 'period_end' } = {},
) => buyer.client.licenses.terminate({ body: { licenseInstanceId, ...more } })
const terminationOf = (terminationId: string) => buyer.client.licenses.terminationStatus({ params: { terminationId } })
const environment = (who: Buyer, licenseInstanceId: string) =>
  who.client.licenses.environment({ params: { licenseInstanceId }, query: { include: 'wrapped-key' } })
const statusOfLicense = async (id: string) =>
  (await buyer.client.licenses.list()).data.find((one) => one.licenseInstanceId === id)?.status

it('gives the environment of a licence, proven and openable by who is on the list of its vault', async () => {
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'mail-pro')
  expect(await codeOf(environment(buyer, licenseInstanceId))).toBe('license_instance_not_found')
  await turns()
  expect(await codeOf(environment(buyer, licenseInstanceId))).toBe('license_handoff_pending')
  expect(await codeOf(environment(stranger, licenseInstanceId))).toBe('license_instance_not_found')
  const { vaultId, itemId, fields } = await takeDelivery(scene.h, buyer, purchaseId)
  const { license: about, data, item, signed, wrappedKeys = [] } = await environment(buyer, licenseInstanceId)
  expect(about).toMatchObject({ instanceId: licenseInstanceId, sku: 'MP1', status: 'active' })
  expect(data.map(({ row }) => [row.label, row.itemId])).toEqual([['MAIL_KEY', itemId]])
  const head = await verifyVaultAnswer(signed, vaultId, trustOf(buyer))
  const verified = await verifyItem(head, verifyItemRow(head, item.row, item.proof), item.detail)
  const keys = await openVaultKeys(head, wrappedKeys, buyer.identity)
  const [field] = verified.fields.filter(({ env }) => env)
  const opened = field && (await openVerifiedField(keys, field, data[0]?.value ?? ''))
  expect(opened && valueText(opened)).toBe(fields[0] && valueText(fields[0].value))
  expect(await codeOf(environment(stranger, licenseInstanceId))).toBe('license_instance_not_found')
})

it('ends a licence at once: the provider first, then the rest of the period back into credit and budget', async () => {
  const manager = await scene.h.agent(org, ['machine.budget.all'], ['TENANT_BUDGET_MANAGER'])
  const bound = await makeBuyer(scene.h, org, 'hybrid')
  await manager.client.budgets.create({
    body: { subjectType: 'agent', subjectId: bound.agentId, windows: [{ kind: 'total', limit: money(PRICE) }] },
  })
  const { purchaseId, licenseInstanceId } = await license(bound)
  const start = new Date((await statusOf(bound, purchaseId)).createdAt)
  expect(await codeOf(buy(bound, 'mail-pro'))).toBe('budget_exceeded')
  const before = await balance()
  scene.h.advance(3 * DAY_MS)
  const { terminationId } = await bound.client.licenses.terminate({ body: { licenseInstanceId } })
  const again = await bound.client.licenses.terminate({ body: { licenseInstanceId } })
  expect(again.terminationId).toBe(terminationId)
  expect(await codeOf(bound.client.licenses.terminate({ body: { licenseInstanceId, effective: 'period_end' } }))).toBe(
    'termination_in_progress',
  )
  expect((await environment(bound, licenseInstanceId)).license.status).toBe('terminating')
  await turns()
  const ended = await bound.client.licenses.terminationStatus({ params: { terminationId } })
  const refund = refundOf(PRICE, start, monthAfter(start), scene.h.deps.now())
  expect(refund).toBe(PRICE - (PRICE * 4n) / BigInt(daysOf(start, monthAfter(start))))
  expect(ended).toMatchObject({ status: 'completed', refund: money(refund), nextAction: { type: 'none' } })
  expect(ended.transitions.map(({ to }) => to)).toEqual(['requested', 'cancelling', 'settling', 'completed'])
  expect((await balance()).available).toBe(before.available + refund)
  const [budget] = (await bound.client.budgets.list()).data
  expect(budget?.activeWindows[0]?.spent).toEqual(money(PRICE - refund))
  expect(scene.provider.orders.get(purchaseId)?.status).toBe('cancelled')
  expect(
    await outcomes([
      environment(bound, licenseInstanceId),
      bound.client.licenses.terminate({ body: { licenseInstanceId } }),
    ]),
  ).toEqual(Array(2).fill('license_terminated'))
  await booksAreRight()
})

it('ends a licence with its period, and gives nothing back', async () => {
  const { licenseInstanceId } = await license()
  const before = await balance()
  const { terminationId } = await terminate(licenseInstanceId, { effective: 'period_end' })
  await turns()
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'cancel_pending' })
  expect((await environment(buyer, licenseInstanceId)).license.status).toBe('terminating')
  scene.h.advance(32 * DAY_MS)
  await turns()
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'completed', refund: money(0n) })
  expect(await balance()).toEqual(before)
  expect(await statusOfLicense(licenseInstanceId)).toBe('terminated')
})

it('stops where the provider refuses and says from when; and goes on when it is resumed', async () => {
  const { licenseInstanceId } = await license()
  scene.provider.misbehave('cancel_refused')
  const { terminationId } = await terminate(licenseInstanceId)
  await turns()
  const stopped = await terminationOf(terminationId)
  expect(stopped).toMatchObject({
    status: 'failed',
    statusReason: 'provider_cancel_refused',
    nextAction: { type: 'resume' },
  })
  expect(stopped.earliestDate).not.toBeNull()
  expect(await statusOfLicense(licenseInstanceId)).toBe('terminating')
  const params = { terminationId }
  expect(await codeOf(stranger.client.licenses.resumeTermination({ params }))).toBe('termination_not_found')
  expect((await buyer.client.licenses.resumeTermination({ params })).status).toBe('cancelling')
  expect(await codeOf(buyer.client.licenses.resumeTermination({ params }))).toBe('termination_not_resumable')
  await turns()
  expect((await terminationOf(terminationId)).status).toBe('completed')
  await booksAreRight()
})

it('asks anew when it is resumed, so that a provider which answers a key as before does not refuse for ever', async () => {
  const { licenseInstanceId } = await license()
  const said = new Map<string, CancelOutcome>()
  let isBound = true
  const remembering = withManners(scene.providers, () => ({
    cancel: async ({ key, at }) => {
      const refused = { kind: 'refused', code: 'commitment', earliestAt: null } as const
      const outcome = said.get(key) ?? (isBound ? refused : { kind: 'cancelled', effectiveAt: at, refundable: null })
      said.set(key, outcome)
      return outcome
    },
  }))
  const { terminationId } = await terminate(licenseInstanceId)
  await turns(remembering)
  const params = { terminationId }
  await buyer.client.licenses.resumeTermination({ params })
  await turns(remembering)
  expect((await terminationOf(terminationId)).status).toBe('failed')
  isBound = false
  await buyer.client.licenses.resumeTermination({ params })
  await turns(remembering)
  expect((await terminationOf(terminationId)).status).toBe('completed')
  // One for each time it was asked for, however often a turn is taken.
  expect([...said.keys()]).toEqual([terminationId, `${terminationId}-2`, `${terminationId}-3`])
  await booksAreRight()
})

it('takes the end of the period where that was said to do as well', async () => {
  const { licenseInstanceId } = await license()
  scene.provider.misbehave('cancel_refused')
  const { terminationId } = await terminate(licenseInstanceId, { fallback: 'period_end' })
  await turns()
  expect(await terminationOf(terminationId)).toMatchObject({ status: 'cancel_pending', effective: 'period_end' })
})

it('gives back no more than was paid on the word of a provider', async () => {
  const { licenseInstanceId } = await license()
  const before = await balance()
  scene.provider.misbehave('wrong_refund')
  const { terminationId } = await terminate(licenseInstanceId)
  await turns()
  expect(await terminationOf(terminationId)).toMatchObject({
    status: 'in_review',
    statusReason: 'provider_wrong_amount',
    refund: null,
  })
  expect(await balance()).toEqual(before)
})

it('ends what nobody has taken: the sealed credential is gone, and cannot be handed over any more', async () => {
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'mail-pro')
  await turns()
  const { body } = await handOffBody(buyer, await statusOf(buyer, purchaseId), await provisionersOf(scene.h))
  const { terminationId } = await terminate(licenseInstanceId)
  const params = { purchaseId }
  expect(await codeOf(buyer.client.licenses.handOff({ params, body }))).toBe('handoff_not_ready')
  await turns()
  expect((await terminationOf(terminationId)).status).toBe('completed')
  expect((await statusOf(buyer, purchaseId)).status).toBe('cancelled')
  const left = await inDb((db) =>
    db.selectFrom('license_sealed').selectAll().where('purchase_id', '=', purchaseId).execute(),
  )
  expect(left).toEqual([])
  expect(await codeOf(environment(buyer, licenseInstanceId))).toBe('license_terminated')
  await booksAreRight()
})

class Died extends Error {}

it('pays back once when a process dies after the provider has ended it, or answers are lost', async () => {
  const { licenseInstanceId, purchaseId } = await license()
  const before = await balance()
  const { terminationId } = await terminate(licenseInstanceId)
  const dying = withManners(scene.providers, (provider) => ({
    cancel: async (request) => {
      await provider.cancel(request)
      throw new Died()
    },
  }))
  const works = (providers: Providers) => ({ deps: scene.h.deps, worker: scene.h.worker, providers })
  await takeTerminationTurn(works(dying))
  await expect(takeTerminationTurn(works(dying))).rejects.toThrow(Died)
  expect(await takeTerminationTurn(works(scene.providers))).toBe(false)
  scene.h.advance(61_000)
  scene.provider.misbehave('lost_answer', 'error_after_commit')
  for (let i = 0; i < 4; i++) {
    await turns()
    scene.h.advance(600_000)
  }
  const { status, refund } = await terminationOf(terminationId)
  expect(status).toBe('completed')
  expect((await balance()).available).toBe(before.available + BigInt(refund?.amount ?? 0))
  expect(scene.provider.orders.get(purchaseId)?.status).toBe('cancelled')
  const refunds = await inDb((db) =>
    db.selectFrom('ledger_transfer').select('transfer_id').where('ref_id', '=', terminationId).execute(),
  )
  expect(refunds).toHaveLength(1)
  await booksAreRight()
})
