-- As before, in fewer statements: accounts are made only where one is missing, the two sides of a transfer are changed in one statement that
-- also looks whether the credit suffices, and what it leaves is what the statement gives.
create or replace function ledger_apply(book text, entries jsonb, at timestamptz) returns jsonb language plpgsql as $$
declare
  e         jsonb;
  name_     text;
  names     text[] := array['credit'];
  held      ledger_transfer;
  known     ledger_transfer;
  d         text;
  c         text;
  amount_   numeric;
  applied   integer := 0;
  changed   integer;
  posted    numeric;
  available numeric;
begin
  for i in 0 .. jsonb_array_length(entries) - 1 loop
    e := entries -> i;
    foreach name_ in array array[e ->> 'dr', e ->> 'cr'] loop
      if name_ <> all(names) then names := names || name_; end if;
    end loop;
    -- Holds that are resolved name their accounts themselves.
    if e ->> 'pendingId' is not null then
      names := names || array(
        select unnest(array[dr, cr]) from ledger_transfer where org_id = book and transfer_id = e ->> 'pendingId');
    end if;
  end loop;
  -- Accounts never go. More names than accounts also where one is named twice, and then nothing is made.
  if (select count(*) from ledger_account where org_id = book and account = any(names)) < cardinality(names) then
    insert into ledger_account (org_id, account, no_overdraft)
      select book, account, account = 'credit' from (select distinct unnest(names) as account) named
      where account is not null
      order by account
      on conflict do nothing;
  end if;
  perform 1 from ledger_account a where a.org_id = book and a.account = any(names) order by a.account for update;

  for i in 0 .. jsonb_array_length(entries) - 1 loop
    e := entries -> i;
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

    select cr_posted - dr_posted, cr_posted - dr_posted - dr_pending into posted, available
      from ledger_account where org_id = book and account = d and no_overdraft;
    if found and e ->> 'phase' in ('single', 'pending') and amount_ > available then
      return jsonb_build_object('refused', 'insufficient', 'id', e ->> 'id', 'available', available::text,
        'required', amount_::text, 'shortfall', (amount_ - available)::text);
    end if;

    with moved as (
      update ledger_account set
        dr_posted = dr_posted + case when account = d and e ->> 'phase' in ('single', 'post') then amount_ else 0 end,
        dr_pending = dr_pending
          + case when account <> d then 0 else case e ->> 'phase' when 'pending' then amount_ when 'single' then 0 else -held.amount end end,
        cr_posted = cr_posted + case when account = c and e ->> 'phase' in ('single', 'post') then amount_ else 0 end,
        cr_pending = cr_pending
          + case when account <> c then 0 else case e ->> 'phase' when 'pending' then amount_ when 'single' then 0 else -held.amount end end
      where org_id = book and account = any(array[d, c])
      returning account, cr_posted - dr_posted as posted_, cr_posted - dr_posted - dr_pending as available_)
    select max(posted_), max(available_) into posted, available from moved where account = 'credit';
    if posted is null then
      select cr_posted - dr_posted, cr_posted - dr_posted - dr_pending into posted, available
        from ledger_account where org_id = book and account = 'credit';
    end if;
    insert into ledger_transfer (org_id, transfer_id, group_id, dr, cr, amount, phase, pending_id, code, ref_type, ref_id,
      posted_after, available_after, created_at)
    values (book, e ->> 'id', e ->> 'group', d, c, amount_, e ->> 'phase', e ->> 'pendingId', e ->> 'code', e ->> 'refType',
      e ->> 'refId', posted, available, at);
    applied := applied + 1;
  end loop;
  return jsonb_build_object('applied', applied);
end $$;
