-- What is told and looked at behind the books, so that whoever moves money does not wait for it.

-- Up to which movement of the credit others were told. Movements are numbered without a gap (0049), so none is left out or told twice.
create table credit_told (
  org_id  text primary key references org (org_id),
  told_no bigint not null
);
-- Nobody is told today of what happened before.
alter table ledger_transfer no force row level security;
insert into credit_told (org_id, told_no)
  select org_id, max(credit_no) from ledger_transfer where credit_no is not null group by org_id;
alter table ledger_transfer force row level security;

-- Whether others were told that this window has opened. Those that are open today are told of no more.
alter table budget_window add column is_told boolean not null default true;
alter table budget_window alter column is_told set default false;
create index budget_window_untold on budget_window (org_id, budget_id, rule_no, starts_at) where not is_told;

-- The fold of a book, as far as it has come: balances are summed up anew from the transfers, a part at a time, and compared with the accounts
-- when the last one was reached.
create table ledger_check (
  org_id      text primary key references org (org_id),
  through_seq bigint not null default 0,
  -- By account: what was posted and is pending, debits and credits.
  sums        jsonb not null default '{}',
  next_at     timestamptz not null,
  checked_at  timestamptz,
  -- Accounts and budgets that were not what they must be. Empty on every day.
  differing   text[] not null default '{}'
);
create index ledger_check_due on ledger_check (next_at);

-- Adds up to `most` transfers to the fold. Null while there are more; the accounts that differ at the end. Everybody who writes a transfer holds
-- the credit of the book, so transfers become visible in the order of their numbers. Call it in one snapshot.
create function ledger_fold_on(book text, most integer) returns text[] language plpgsql as $$
declare
  since     bigint;
  until     bigint;
  folded    jsonb;
  count_    integer;
  differing text[];
begin
  select through_seq, sums into since, folded from ledger_check where org_id = book;
  with part as (
    select t.seq, t.dr, t.cr, t.phase, t.amount, coalesce(h.amount, 0) as held
    from ledger_transfer t
    left join ledger_transfer h on h.org_id = t.org_id and h.transfer_id = t.pending_id
    where t.org_id = book and t.seq > since order by t.seq limit most
  ), moves as (
    select p.dr as account, case when p.phase in ('single', 'post') then p.amount else 0 end as drp, 0::numeric as crp,
      case p.phase when 'pending' then p.amount else -p.held end as drh, 0::numeric as crh from part p
    union all
    select p.cr, 0, case when p.phase in ('single', 'post') then p.amount else 0 end, 0,
      case p.phase when 'pending' then p.amount else -p.held end from part p
    union all
    select s.key, (s.value ->> 0)::numeric, (s.value ->> 1)::numeric, (s.value ->> 2)::numeric, (s.value ->> 3)::numeric
    from jsonb_each(folded) s
  )
  select (select jsonb_object_agg(m.account, m.sums) from (
      select account, jsonb_build_array(sum(drp)::text, sum(crp)::text, sum(drh)::text, sum(crh)::text) as sums
      from moves group by account) m),
    (select max(p.seq) from part p), (select count(*) from part p)
    into folded, until, count_;
  if count_ = most then
    update ledger_check set through_seq = until, sums = folded where org_id = book;
    return null;
  end if;
  select coalesce(array_agg(coalesce(a.account, s.key) order by coalesce(a.account, s.key)), '{}') into differing
    from (select * from ledger_account where org_id = book) a
    full join jsonb_each(coalesce(folded, '{}')) s on s.key = a.account
    where array[a.dr_posted, a.cr_posted, a.dr_pending, a.cr_pending] is distinct from
      array[coalesce(s.value ->> 0, '0'), coalesce(s.value ->> 1, '0'), coalesce(s.value ->> 2, '0'), coalesce(s.value ->> 3, '0')]::numeric[];
  update ledger_check set through_seq = 0, sums = '{}' where org_id = book;
  return differing;
end $$;

do $$
declare
  t text;
begin
  foreach t in array array['credit_told', 'ledger_check'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_worker', t);
  end loop;
end $$;
grant execute on function ledger_fold_on(text, integer) to strongroom_worker;
