import { afterAll, beforeAll, expect, it } from 'vitest'
import { operatorOf } from '../../test/operator-seed.ts'
import { buy, statusOf } from '../../test/provider/license-buyer.ts'
import { withManners } from '../../test/provider/provider-scene.ts'
import { type Shop, startShop } from '../../test/provider/shop.ts'
import { inOrg } from '../context.ts'
import { takeEndingTurn, takeExpiryTurn } from '../modules/licenses/expiry.ts'
import { takeRenewalTurn } from '../modules/licenses/renewal-turn.ts'
import { MOST_UNKNOWN, MOST_UNREACHABLE } from '../modules/licenses/turns.ts'
import { readBacklog } from '../telemetry/backlog.ts'
import { giveUp, listReview, nextIssuerKey } from './licenses.ts'

// What an operator decides about licences. Catches: a purchase of another organisation, one that needs no decision, money that is freed
// before the provider has cancelled, a decision without a record. Seen red: the state not asked, the record left out, the
// money of a renewal kept; a purchase given up that was not tried for long enough, or whose money is a termination's; one that stays unclear
// left out of what `strongroom system` counts.

let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const auditOf = (orgId: string, action: string) =>
  inOrg(shop.h.deps, orgId, (db) => db.selectFrom('audit_event').selectAll().where('action', '=', action).execute())

/** What operators are told waits for them. */
const inBacklog = async (): Promise<number> => (await readBacklog(shop.h.worker, shop.h.deps.now())).inReview

it('gives up a purchase that nobody could find out about, and its money is free when the provider has cancelled', async () => {
  const { h, provider, org, buyer } = shop
  const { orgId } = org
  const deps = { ...operatorOf(h), now: h.deps.now }
  const { purchaseId } = await buy(buyer, 'mail-pro')
  await expect(giveUp(deps, orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  provider.misbehave(...Array.from({ length: 4 * MOST_UNKNOWN }, () => 'error_after_commit' as const))
  await shop.goOn(MOST_UNKNOWN + 1)
  expect((await statusOf(buyer, purchaseId)).status).toBe('in_review')
  const held = (await shop.balance()).held
  expect(await listReview(deps, orgId)).toMatchObject([{ purchaseId, provider: 'acme', amount: held.toString() }])

  const other = await h.org('somebody else')
  await expect(giveUp(deps, other.orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  expect(await listReview(deps, other.orgId)).toEqual([])
  await giveUp(deps, orgId, purchaseId)
  await expect(giveUp(deps, orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  expect(await listReview(deps, orgId)).toEqual([])
  const records = await auditOf(orgId, 'operator.give-up-purchase')
  expect(records).toMatchObject([{ actor_type: 'operator', targets: [{ type: 'license_purchase', id: purchaseId }] }])
  expect((await shop.balance()).held).toBe(held)

  await shop.goOn(4 * MOST_UNKNOWN)
  expect((await statusOf(buyer, purchaseId)).status).toBe('cancelled')
  expect((await shop.balance()).held).toBe(0n)
  await shop.booksAreRight()
})

it('gives up what the provider does not cancel, and its money is free at once', async () => {
  const { h, org, buyer } = shop
  const { orgId } = org
  const deps = { ...operatorOf(h), now: h.deps.now }
  const before = await shop.balance()
  const gone = { kind: 'unavailable', cause: 'not_reachable' } as const
  const stubborn = withManners(shop.providers, () => ({
    order: async () => gone,
    getOrder: async () => gone,
    cancel: async () => ({ kind: 'refused', code: 'commitment', earliestAt: null }),
  }))
  const { purchaseId } = await buy(buyer, 'mail-pro')
  await shop.goOn(MOST_UNREACHABLE, stubborn)
  h.advance(7 * 86_400_000)
  await shop.goOn(2, stubborn)
  expect((await statusOf(buyer, purchaseId)).status).toBe('compensating')
  await expect(giveUp(deps, orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  expect([await listReview(deps, orgId), await inBacklog()]).toEqual([[], 0])
  await shop.goOn(MOST_UNKNOWN, stubborn)
  const waiting = { purchaseId, amount: String((await shop.balance()).held), reason: 'provider_cancel_refused' }
  expect(await listReview(deps, orgId)).toMatchObject([waiting])
  expect(await inBacklog()).toBe(1)
  const records = (await auditOf(orgId, 'operator.give-up-purchase')).length
  const other = await h.org('somebody else again')
  await expect(giveUp(deps, other.orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  await giveUp(deps, orgId, purchaseId)
  await expect(giveUp(deps, orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  expect(await statusOf(buyer, purchaseId)).toMatchObject({
    ...{ status: 'cancelled', statusReason: 'given_up_by_operator', nextAction: { type: 'none' } },
  })
  expect([await shop.balance(), await listReview(deps, orgId), await inBacklog()]).toEqual([before, [], 0])
  expect(await shop.transfersOf(purchaseId)).toEqual(['pending', 'void'])
  expect((await auditOf(orgId, 'operator.give-up-purchase')).length).toBe(records + 1)
  expect(await shop.turns(stubborn)).toBe(0)
  await shop.booksAreRight()
})

it('gives up a renewal that nobody could find out about: its money is free, and the licence ends with its period', async () => {
  const { h, org, buyer } = shop
  const { orgId } = org
  const deps = { ...operatorOf(h), now: h.deps.now }
  const { licenseInstanceId } = await buy(buyer, 'mail-pro')
  await shop.turns()
  const licenseOf = async () =>
    (await buyer.client.licenses.list()).data.find((one) => one.licenseInstanceId === licenseInstanceId)
  const end = new Date((await licenseOf())?.periodEnd ?? '').getTime()
  h.advance(end - 12 * 3_600_000 - h.deps.now().getTime())
  const before = await shop.balance()
  const wrong = withManners(shop.providers, () => ({
    renew: async () => ({ kind: 'renewed', amount: 10n ** 12n, periodEnd: null }),
  }))
  const works = shop.works(wrong)
  await takeEndingTurn(works)
  while (await takeRenewalTurn(works));
  const [waiting] = await listReview(deps, orgId)
  expect(waiting).toMatchObject({ provider: 'acme', reason: 'provider_wrong_amount' })
  expect((await shop.balance()).held - before.held).toBe(BigInt(waiting?.amount ?? 0))
  const id = waiting?.purchaseId ?? ''
  await giveUp(deps, orgId, id)
  await expect(giveUp(deps, orgId, id)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
  expect(await listReview(deps, orgId)).toEqual([])
  expect(await auditOf(orgId, 'operator.give-up-renewal')).toMatchObject([
    { actor_type: 'operator', targets: [{ type: 'license_renewal', id }] },
  ])
  expect(await shop.balance()).toEqual(before)
  expect((await licenseOf())?.status).toBe('active')
  h.advance(end + 1000 - h.deps.now().getTime())
  await takeExpiryTurn(works)
  expect((await licenseOf())?.status).toBe('expired')
  await shop.booksAreRight()
})

it('leaves what was paid for to its termination', async () => {
  const { h, org, buyer } = shop
  const deps = { ...operatorOf(h), now: h.deps.now }
  const { purchaseId, licenseInstanceId } = await buy(buyer, 'mail-pro')
  await shop.turns()
  const silent = withManners(shop.providers, () => ({ cancel: async () => ({ kind: 'unknown', cause: 'no_answer' }) }))
  await buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  await shop.turns(silent)
  await inOrg(h.deps, org.orgId, (db) =>
    db
      .updateTable('license_purchase')
      .set({ attempts: 10 * MOST_UNKNOWN })
      .where('purchase_id', '=', purchaseId)
      .execute(),
  )
  expect((await statusOf(buyer, purchaseId)).status).toBe('compensating')
  expect(await listReview(deps, org.orgId)).toEqual([])
  await expect(giveUp(deps, org.orgId, purchaseId)).rejects.toMatchObject({ code: 'purchase_not_in_review' })
})

it('makes another key for licences beside the ones before, and tells every organisation', async () => {
  const keysOf = async (): Promise<string[]> => {
    const answer = await fetch(`${shop.h.url}/.well-known/license-issuer-keys.json`)
    const { keys } = (await answer.json()) as { keys: { kid: string }[] }
    return keys.map(({ kid }) => kid)
  }
  const before = await keysOf()
  const { kid } = await nextIssuerKey(operatorOf(shop.h))
  expect(await keysOf()).toEqual([...before, kid])
  expect(await auditOf(shop.org.orgId, 'operator.rotate-issuer-key')).toMatchObject([{ metadata: { kid } }])
})
