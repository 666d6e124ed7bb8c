import type pg from 'pg'
import { attach } from '../test/attach.ts'
import { giveCredit, type LicenseOrg, makeBuyer, makeLicenseOrg } from '../test/provider/license-buyer.ts'

// Organisations that buy, with buyers whose keys are in their logs, and others whose ledgers are empty and long.

export interface CommerceWorld {
  readonly orgId: string
  /** Of those who buy, by organisation. */
  readonly buyerKeys: readonly (readonly string[])[]
  readonly admin: pg.Client
  readonly deps: Awaited<ReturnType<typeof attach>>['h']['deps']
  /** Of an agent in an organisation with so many transfers. */
  ledgerKey(transfers: number): Promise<string>
  close(): Promise<void>
}

const CREDIT = 1_000_000_000_000_000n

/** Purchases are begun and nobody goes on with them: what is measured is the beginning. */
const NOBODY_GOES_ON = `
  create function bench_never_due() returns trigger language plpgsql as $$ begin new.next_at := null; return new; end $$;
  create trigger bench_never_due before insert on license_purchase for each row execute function bench_never_due();`

/** Money in, a hold, its capture, and so on, as the service would have written them, without asking it a million times. */
export async function fillLedger(admin: pg.Client, orgId: string, transfers: number): Promise<void> {
  await admin.query('begin')
  // Their accounts are there, and they are numbered here: nothing of this has to be looked up for each row.
  await admin.query("set local session_replication_role = 'replica'")
  await admin.query(
    `insert into ledger_account (org_id, account, no_overdraft, cr_posted, dr_posted) values
      ($1, 'credit', true, $2::numeric * 1000, $2::numeric * 400), ($1, 'clearing:bench', false, 0, $2::numeric * 1000),
      ($1, 'payable:bench', false, $2::numeric * 400, 0)`,
    [orgId, Math.ceil(transfers / 2)],
  )
  await admin.query(
    `insert into ledger_transfer (org_id, transfer_id, group_id, dr, cr, amount, phase, code, ref_type, ref_id, posted_after,
        available_after, created_at, credit_no)
      select $1, 'bench:' || i, 'bench:' || i, case when i % 2 = 1 then 'clearing:bench' else 'credit' end,
        case when i % 2 = 1 then 'credit' else 'payable:bench' end, case when i % 2 = 1 then 1000 else 400 end, 'single',
        case when i % 2 = 1 then 'funding' else 'charge' end, 'bench', 'bench_' || i, i * 300, i * 300,
        now() - make_interval(secs => $2 - i), i
      from generate_series(1, $2::int) as i`,
    [orgId, transfers],
  )
  // Nobody is told of these, nor are they added up while something is measured.
  await admin.query('insert into credit_told (org_id, told_no) values ($1, $2)', [orgId, transfers])
  await admin.query("insert into ledger_check (org_id, next_at) values ($1, now() + interval '1 day')", [orgId])
  await admin.query('commit')
  await admin.query('vacuum analyze ledger_transfer')
}

const keysOf = async (h: Awaited<ReturnType<typeof attach>>['h'], org: LicenseOrg, count: number) => {
  const keys: string[] = []
  for (let i = 0; i < count; i++) keys.push((await makeBuyer(h, org)).apiKey)
  return keys
}

export async function makeCommerceWorld(
  url: string,
  data: string,
  /** How many of each organisation. */
  buyers: readonly number[],
): Promise<CommerceWorld> {
  const { h, admin } = await attach(url, data)
  await admin.query(NOBODY_GOES_ON)
  const made: { readonly orgId: string; readonly keys: readonly string[] }[] = []
  for (const [i, count] of buyers.entries()) {
    const org = await makeLicenseOrg(h, `buyers ${i}`)
    await giveCredit(h, org.orgId, CREDIT)
    made.push({ orgId: org.orgId, keys: await keysOf(h, org, count) })
  }
  return {
    orgId: made[0]?.orgId ?? '',
    buyerKeys: made.map(({ keys }) => keys),
    admin,
    deps: h.deps,
    ledgerKey: async (transfers) => {
      const place = await h.org(`ledger of ${transfers}`)
      if (transfers > 0) await fillLedger(admin, place.orgId, transfers)
      return (await h.agent(place, ['machine.billing.read'])).apiKey
    },
    close: h.close,
  }
}
