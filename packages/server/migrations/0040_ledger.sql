-- Money: two-phase double entry. Every organisation has a book of its own that balances by itself. A transfer is one debit and one
-- credit of one amount, so an unbalanced entry cannot be written; transfers are never changed. Amounts are whole micro-units.

create table ledger_account (
  org_id       text not null references org (org_id),
  account      text not null check (account ~ '^[a-z]+(:[A-Za-z0-9_.-]+)*$'),
  -- Credit that was prepaid must never be spent twice.
  no_overdraft boolean not null,
  dr_posted    numeric(38, 0) not null default 0 check (dr_posted >= 0),
  cr_posted    numeric(38, 0) not null default 0 check (cr_posted >= 0),
  dr_pending   numeric(38, 0) not null default 0 check (dr_pending >= 0),
  cr_pending   numeric(38, 0) not null default 0 check (cr_pending >= 0),
  primary key (org_id, account),
  constraint ledger_no_overdraft check (not no_overdraft or cr_posted - dr_posted - dr_pending >= 0)
);

create table ledger_transfer (
  org_id          text not null,
  -- Made by whoever asks: asking twice is asking once.
  transfer_id     text not null check (transfer_id ~ '^[a-z]+(:[A-Za-z0-9_.-]+)+$'),
  seq             bigint generated always as identity,
  -- Transfers that belong together.
  group_id        text not null,
  dr              text not null,
  cr              text not null,
  amount          numeric(38, 0) not null check (amount > 0),
  phase           text not null check (phase in ('single', 'pending', 'post', 'void')),
  pending_id      text,
  code            text not null,
  ref_type        text not null,
  ref_id          text not null,
  -- Of the organisation's credit, right after this transfer.
  posted_after    numeric(38, 0) not null,
  available_after numeric(38, 0) not null,
  created_at      timestamptz not null,
  primary key (org_id, transfer_id),
  unique (org_id, seq),
  foreign key (org_id, dr) references ledger_account (org_id, account),
  foreign key (org_id, cr) references ledger_account (org_id, account),
  foreign key (org_id, pending_id) references ledger_transfer (org_id, transfer_id),
  check (dr <> cr),
  check ((phase in ('post', 'void')) = (pending_id is not null))
);
-- A hold ends once.
create unique index ledger_hold_ends_once on ledger_transfer (org_id, pending_id) where pending_id is not null;
create index ledger_transfer_ref on ledger_transfer (org_id, ref_type, ref_id);

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'transfers are never changed';
end $$;
create trigger ledger_transfer_stays before update or delete on ledger_transfer
  for each row execute function ledger_is_append_only();
create trigger ledger_transfer_stays_whole before truncate on ledger_transfer
  for each statement execute function ledger_is_append_only();

-- Applies transfers in their order, all or none, under the locks of every account they touch, which are taken in one order by
-- everybody. Answers {"applied": n} or {"refused": why, …}; a refusal leaves nothing behind because whoever asked rolls back.
create function ledger_apply(book text, entries jsonb, at timestamptz) returns jsonb language plpgsql as $$
declare
  e        jsonb;
  held     ledger_transfer;
  known    ledger_transfer;
  d        text;
  c        text;
  amount_  numeric;
  applied  integer := 0;
  own      ledger_account;
  short    numeric;
begin
  insert into ledger_account (org_id, account, no_overdraft)
    select book, account, account = 'credit'
    from (select value ->> 'dr' as account from jsonb_array_elements(entries)
          union select value ->> 'cr' from jsonb_array_elements(entries)
          union select 'credit') named
    where account is not null
    order by account
    on conflict do nothing;
  -- Holds that are resolved name their accounts themselves.
  perform 1 from ledger_account a
    where a.org_id = book and (
      a.account = 'credit'
      or a.account in (select value ->> 'dr' from jsonb_array_elements(entries))
      or a.account in (select value ->> 'cr' from jsonb_array_elements(entries))
      or a.account in (
        select unnest(array[t.dr, t.cr]) from ledger_transfer t
        where t.org_id = book and t.transfer_id in (select value ->> 'pendingId' from jsonb_array_elements(entries))))
    order by a.account
    for update;

  for e in select value from jsonb_array_elements(entries) loop
    held := null;
    if e ->> 'phase' in ('post', 'void') then
      select * into held from ledger_transfer where org_id = book and transfer_id = e ->> 'pendingId' and phase = 'pending';
      if not found then return jsonb_build_object('refused', 'no_hold', 'id', e ->> 'id'); end if;
    end if;
    d := coalesce(held.dr, e ->> 'dr');
    c := coalesce(held.cr, e ->> 'cr');
    amount_ := case when e ->> 'phase' = 'void' then held.amount else (e ->> 'amount')::numeric end;

    select * into known from ledger_transfer where org_id = book and transfer_id = e ->> 'id';
    if found then
      if (known.dr, known.cr, known.amount, known.phase, known.code) is distinct from (d, c, amount_, e ->> 'phase', e ->> 'code')
        or known.pending_id is distinct from e ->> 'pendingId'
      then return jsonb_build_object('refused', 'another_transfer', 'id', e ->> 'id'); end if;
      continue;
    end if;
    if held.transfer_id is not null then
      if exists (select 1 from ledger_transfer where org_id = book and pending_id = held.transfer_id)
      then return jsonb_build_object('refused', 'hold_has_ended', 'id', e ->> 'id'); end if;
      if amount_ > held.amount then return jsonb_build_object('refused', 'more_than_held', 'id', e ->> 'id'); end if;
    end if;

    select * into own from ledger_account where org_id = book and account = d;
    short := amount_ - (own.cr_posted - own.dr_posted - own.dr_pending);
    if own.no_overdraft and e ->> 'phase' in ('single', 'pending') and short > 0 then
      return jsonb_build_object('refused', 'insufficient', 'id', e ->> 'id', 'available', (amount_ - short)::text,
        'required', amount_::text, 'shortfall', short::text);
    end if;

    update ledger_account set
      dr_posted = dr_posted + case when e ->> 'phase' in ('single', 'post') then amount_ else 0 end,
      dr_pending = dr_pending + case e ->> 'phase' when 'pending' then amount_ when 'single' then 0 else -held.amount end
      where org_id = book and account = d;
    update ledger_account set
      cr_posted = cr_posted + case when e ->> 'phase' in ('single', 'post') then amount_ else 0 end,
      cr_pending = cr_pending + case e ->> 'phase' when 'pending' then amount_ when 'single' then 0 else -held.amount end
      where org_id = book and account = c;
    select * into own from ledger_account where org_id = book and account = 'credit';
    insert into ledger_transfer (org_id, transfer_id, group_id, dr, cr, amount, phase, pending_id, code, ref_type, ref_id,
      posted_after, available_after, created_at)
    values (book, e ->> 'id', e ->> 'group', d, c, amount_, e ->> 'phase', e ->> 'pendingId', e ->> 'code', e ->> 'refType',
      e ->> 'refId', own.cr_posted - own.dr_posted, own.cr_posted - own.dr_posted - own.dr_pending, at);
    applied := applied + 1;
  end loop;
  return jsonb_build_object('applied', applied);
end $$;

-- What the accounts must be, from the transfers alone: a row for each account that differs. Empty on every day.
create function ledger_differences(book text) returns table (account text, stored numeric[], folded numeric[])
  language sql stable as $$
  with holds as (
    select t.*, exists (select 1 from ledger_transfer r where r.org_id = t.org_id and r.pending_id = t.transfer_id) as ended
    from ledger_transfer t where t.org_id = book
  ), moves as (
    select dr as account, case when phase in ('single', 'post') then amount else 0 end as drp, 0::numeric as crp,
      case when phase = 'pending' and not ended then amount else 0 end as drh, 0::numeric as crh from holds
    union all
    select cr, 0, case when phase in ('single', 'post') then amount else 0 end, 0,
      case when phase = 'pending' and not ended then amount else 0 end from holds
  ), folded as (
    select m.account, array[sum(drp), sum(crp), sum(drh), sum(crh)] as sums from moves m group by m.account
  )
  select a.account, array[a.dr_posted, a.cr_posted, a.dr_pending, a.cr_pending], coalesce(f.sums, array[0, 0, 0, 0]::numeric[])
  from ledger_account a left join folded f on f.account = a.account
  where a.org_id = book
    and array[a.dr_posted, a.cr_posted, a.dr_pending, a.cr_pending] <> coalesce(f.sums, array[0, 0, 0, 0]::numeric[])
$$;

do $$
declare
  t text;
begin
  foreach t in array array['ledger_account', 'ledger_transfer'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_app', t);
    execute format('grant select, insert, update on %I to strongroom_worker', t);
  end loop;
end $$;
revoke update on ledger_transfer from strongroom_app, strongroom_worker;
