import type pg from 'pg'
import { inOrg } from '../../src/context.ts'
import { openDatabase } from '../../src/db/database.ts'
import { applyTransfers, ledgerDifferences } from '../../src/ledger/ledger.ts'
import { insertPeriod } from '../../src/modules/charges/period-store.ts'
import { insertInstance } from '../../src/modules/licenses/instance-store.ts'
import { capture, captureId, hold, ownerOf, promise, settlePromise } from '../../src/modules/licenses/money.ts'
import { movePurchase, type PurchaseRow } from '../../src/modules/licenses/purchase-store.ts'
import { insertTermination } from '../../src/modules/licenses/termination-store.ts'
import { newId } from '../../src/start.ts'
import { identityOf } from '../actors.ts'
import { insertPurchase } from './insert-purchase.ts'
import { PRICE, type ReferenceProvider, SECRET, startReferenceProvider } from './reference-provider.ts'

// An organisation with credit, and purchases as the route leaves them; what is done with them is done by other processes.

interface Connections {
  readonly app: pg.ClientConfig
  readonly worker: pg.ClientConfig
}

export interface KillWorld {
  readonly logins: Connections
  readonly provider: ReferenceProvider
  skewMs(): number
  advance(ms: number): void
  /** A purchase that was just made, or a licence that is just being ended. */
  begin(kind: 'purchase' | 'termination'): Promise<string>
  /** Undefined if everything is as it must be. */
  wrongWith(kind: 'purchase' | 'termination', id: string): Promise<string | undefined>
  close(): Promise<void>
}

export async function makeKillWorld({ app, worker }: Connections): Promise<KillWorld> {
  let skewMs = 0
  const now = (): Date => new Date(Date.now() + skewMs)
  const labels = { MP1: ['MAIL_KEY'] }
  const provider = await startReferenceProvider({ secret: SECRET, prices: { MP1: PRICE }, labels, now })
  const database = openDatabase({ connection: app, poolSize: 4 }, () => undefined)
  const [orgId, tenantId] = [newId('org'), newId('ten')]
  const maker = { now, newId }
  const { kid, key } = await identityOf('deploy', 'agent:buyer')
  const inDb = <T>(work: Parameters<typeof inOrg<T>>[2]): Promise<T> => inOrg({ database }, orgId, work)
  await inDb(async (db) => {
    const org = { org_id: orgId, name: 'killed', genesis_hash: '', log_origin: `test/${orgId}`, created_at: now() }
    await db.insertInto('org').values(org).execute()
    const about = { id: 'fund:1', group: 'fund:1', code: 'funding', refType: 'test', refId: 'x' } as const
    const fund = { ...about, phase: 'single', dr: 'clearing:test', cr: 'credit', amount: 10_000n * PRICE } as const
    await applyTransfers(db, orgId, [fund], now())
  })
  const place = { orgId, tenantId, principal: 'agent:buyer', recipientKid: kid, recipientKey: key.bundle }
  const offer = { slug: 'mail-pro', name: 'Mail', provider: 'acme', sku: 'MP1', term: 'month', quantity: 1 } as const
  const vault = { vaultMode: 'new', vaultName: 'x', vaultId: null } as const

  const bought = (): Promise<PurchaseRow> =>
    inDb(async (db) => {
      const wanted = {
        ...{ ...place, ...offer, ...vault, amount: String(PRICE), subjects: [`org ${orgId}`] },
        fields: [{ label: 'MAIL_KEY', env: true }],
        ...{ purchaseId: newId('pur'), instanceId: newId('lic'), quoteValidUntil: now() },
      }
      await promise(maker, db, { ...wanted, holdNo: 1 })
      const row = await insertPurchase(db, wanted, now())
      await hold(maker, db, row)
      return row
    })
  /** Delivered and in use; the provider learns of it with the first request. */
  const ending = async (): Promise<string> => {
    const row = await bought()
    const terminationId = newId('ter')
    provider.place(row.purchaseId, orgId)
    await inDb(async (db) => {
      const at = now()
      await settlePromise(maker, db, row, PRICE)
      const move = { to: 'completed', cause: 'test', actor: 'test', at } as const
      await movePurchase(db, row, move, { money: 'captured', next_at: null })
      const periodEnd = new Date(at.getTime() + 30 * 86_400_000)
      await insertInstance(db, row, { instanceRef: 'ref', periodStart: at, periodEnd, at })
      const { principal, instanceId, amount } = row
      const paid = { amount, transferId: captureId(row), owner: ownerOf(row) }
      await insertPeriod(db, { orgId, instanceId, periodNo: 1, startsAt: at, endsAt: periodEnd, ...paid }, at)
      const wanted = {
        orgId,
        terminationId,
        instanceId,
        principal,
        effective: 'immediate',
        fallback: null,
        note: null,
      } as const
      await insertTermination(db, wanted, at)
      await capture(maker, db, row)
    })
    return terminationId
  }
  const phases = (id: string): Promise<string> =>
    inDb(async (db) => {
      const rows = await db
        .selectFrom('ledger_transfer')
        .select('phase')
        .where('ref_id', '=', id)
        .orderBy('seq')
        .execute()
      return rows.map(({ phase }) => phase).join(' ')
    })
  const stateOf = (kind: 'purchase' | 'termination', id: string): Promise<string> =>
    inDb(async (db) => {
      const row =
        kind === 'purchase'
          ? await db.selectFrom('license_purchase').select('state').where('purchase_id', '=', id).executeTakeFirst()
          : await db
              .selectFrom('license_termination')
              .select('state')
              .where('termination_id', '=', id)
              .executeTakeFirst()
      return row?.state ?? 'gone'
    })
  return {
    logins: { app, worker },
    provider,
    skewMs: () => skewMs,
    advance: (ms) => {
      skewMs += ms
    },
    begin: async (kind) => {
      // What has ended is left alone: its reminders would be turns of whoever is to die.
      await inDb((db) => db.updateTable('license_purchase').set({ next_at: null }).execute())
      return kind === 'purchase' ? (await bought()).purchaseId : ending()
    },
    wrongWith: async (kind, id) => {
      const expected = kind === 'purchase' ? 'awaiting_handoff pending post' : 'completed single'
      const found = `${await stateOf(kind, id)} ${await phases(id)}`
      if (found !== expected) return found
      const orders = [...provider.orders.keys()].filter((one) => one.startsWith(id)).length
      if (kind === 'purchase' && orders !== 1) return `${orders} orders`
      const books = await inDb((db) => ledgerDifferences(db, orgId))
      return books.length === 0 ? undefined : `the books differ: ${books.join(', ')}`
    },
    close: async () => {
      await provider.close()
      await database.close()
    },
  }
}
