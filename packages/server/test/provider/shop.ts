import { expect } from 'vitest'
import { inOrg } from '../../src/context.ts'
import { creditOf, ledgerDifferences } from '../../src/ledger/ledger.ts'
import type { Providers } from '../../src/licenses/provider.ts'
import { budgetDifferences } from '../../src/modules/budgets/reserve.ts'
import type { Works } from '../../src/modules/licenses/turns.ts'
import {
  type Buyer,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
  statusOf,
  takeTurns,
} from './license-buyer.ts'
import { type ProviderScene, startProviderScene } from './provider-scene.ts'
import { PRICE } from './reference-provider.ts'

// A buyer with credit, the provider, and what must be true of a purchase in the end.

export interface Shop extends ProviderScene {
  readonly org: LicenseOrg
  readonly buyer: Buyer
  inDb<T>(work: Parameters<typeof inOrg<T>>[2]): Promise<T>
  balance(): ReturnType<typeof creditOf>
  works(providers?: Providers): Works
  turns(providers?: Providers): Promise<number>
  /** Takes turns and waits, so many times. */
  goOn(waits: number, providers?: Providers): Promise<void>
  ordersOf(purchaseId: string): readonly { readonly status: string }[]
  /** The phases of its transfers, in order. */
  transfersOf(purchaseId: string): Promise<readonly string[]>
  booksAreRight(): Promise<void>
  /** One order, one capture, one licence, and books that add up. */
  isDelivered(purchaseId: string): Promise<void>
  close(): Promise<void>
}

const WAIT_MS = 3_700_000

export async function startShop(canary?: string): Promise<Shop> {
  const scene = await startProviderScene(canary)
  const { h, provider } = scene
  const org = await makeLicenseOrg(h, 'acme')
  const buyer = await makeBuyer(h, org)
  await giveCredit(h, org.orgId, 10_000n * PRICE)
  const inDb: Shop['inDb'] = (work) => inOrg(h.deps, org.orgId, work)
  const turns: Shop['turns'] = (providers = scene.providers) => takeTurns(h, providers)
  const ordersOf: Shop['ordersOf'] = (id) =>
    [...provider.orders.values()].filter((one) => one.externalId.startsWith(id))
  const transfersOf: Shop['transfersOf'] = (id) =>
    inDb(async (db) => {
      const rows = await db
        .selectFrom('ledger_transfer')
        .select('phase')
        .where('ref_id', '=', id)
        .orderBy('seq')
        .execute()
      return rows.map(({ phase }) => phase)
    })
  const booksAreRight = async (): Promise<void> => {
    const wrong = await inDb(async (db) => [
      ...(await ledgerDifferences(db, org.orgId)),
      ...(await budgetDifferences(db, org.orgId)),
    ])
    expect(wrong).toEqual([])
  }
  return {
    ...{ ...scene, org, buyer, inDb, turns, ordersOf, transfersOf, booksAreRight },
    balance: () => inDb((db) => creditOf(db, org.orgId)),
    works: (providers = scene.providers) => ({ deps: h.deps, worker: h.worker, providers }),
    goOn: async (waits, providers) => {
      for (let i = 0; i < waits; i++) {
        await turns(providers)
        h.advance(WAIT_MS)
      }
      await turns(providers)
    },
    isDelivered: async (purchaseId) => {
      expect((await statusOf(buyer, purchaseId)).status).toBe('awaiting_handoff')
      expect(ordersOf(purchaseId)).toHaveLength(1)
      expect(await transfersOf(purchaseId)).toEqual(['pending', 'post'])
      await booksAreRight()
    },
    close: async () => {
      await provider.close()
      await h.close()
    },
  }
}
