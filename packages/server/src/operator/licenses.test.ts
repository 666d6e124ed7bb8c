import { afterAll, beforeAll, expect, it } from 'vitest'
import { operatorOf } from '../../test/operator-seed.ts'
import { buy, statusOf } from '../../test/provider/license-buyer.ts'
import { withManners } from '../../test/provider/provider-scene.ts'
import { type Shop, startShop } from '../../test/provider/shop.ts'
import { inOrg } from '../context.ts'
import { takeEndingTurn, takeExpiryTurn } from '../modules/licenses/expiry.ts'
import { MOST_UNKNOWN } from '../modules/licenses/purchase-turn.ts'
import { takeRenewalTurn } from '../modules/licenses/renewal-turn.ts'
import { giveUp, listReview, nextIssuerKey } from './licenses.ts'

// What an operator decides about licences. Catches: a purchase of another organisation, one that needs no decision, money that is freed
// before the provider has cancelled, a decision without a record. Seen red: the state not asked, the record left out, the
// money of a renewal kept.

let shop: Shop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.close())

const auditOf = (orgId: string, action: string) =>
  inOrg(shop.h.deps, orgId, (db) => db.selectFrom('audit_event').selectAll().where('action', '=', action).execute())

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
