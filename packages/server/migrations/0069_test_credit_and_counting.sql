-- Test credit pays for licences of the sandbox and for nothing else, and what comes back of it after its end is no credit either. And a budget
-- that counts from the start of its windows also counts what is being reserved meanwhile.

-- A licence of the sandbox: bought after the grant, test credit is what pays for it first.
alter table license_purchase add column is_test boolean not null default false;
-- Row-level security also holds for who owns the tables.
alter table license_purchase no force row level security;
alter table ledger_transfer no force row level security;
update license_purchase p set is_test = true
where p.provider = 'builtin' and p.slug in ('sandbox-monthly', 'sandbox-once')
  and exists (select 1 from ledger_transfer g where g.org_id = p.org_id and g.transfer_id = 'promo:sandbox');
alter table license_purchase force row level security;
alter table ledger_transfer force row level security;

create index license_purchase_test on license_purchase (org_id, purchase_id) where is_test;

-- Everything that was held for licences of the sandbox since the grant.
create function test_holds(o text) returns setof ledger_transfer language plpgsql stable as $$
begin
  return query
    select h.* from license_purchase p
      join ledger_transfer h on h.org_id = o and h.ref_type = 'license_purchase' and h.ref_id = p.purchase_id and h.phase = 'pending'
      join ledger_transfer g on g.org_id = o and g.transfer_id = 'promo:sandbox' and g.seq < h.seq
    where p.org_id = o and p.is_test;
end $$;

-- What of the grant neither has expired nor lies in licences of the sandbox, which it pays for before anything else does. Under the lock of the
-- credit.
create function unused_test_credit(o text) returns numeric language plpgsql stable as $$
declare
  granted numeric;
  expired numeric;
  used    numeric;
begin
  select amount into granted from ledger_transfer where org_id = o and transfer_id = 'promo:sandbox';
  select coalesce(sum(amount), 0) into expired from ledger_transfer
    where org_id = o and ref_type = 'grant' and ref_id = 'sandbox' and code = 'expiry';
  select coalesce(sum(h.amount - coalesce((
      select sum(t.refund) from license_purchase p join license_termination t on t.org_id = o and t.instance_id = p.instance_id
      where p.org_id = o and p.purchase_id = h.ref_id), 0)), 0)
    into used from test_holds(o) h
    where not exists (
      select 1 from ledger_transfer v where v.org_id = o and v.pending_id = h.transfer_id and v.phase = 'void');
  return granted - expired - used;
end $$;

-- It ends with the first purchase of anything else after the grant, also where nothing of it was left then.
create function has_test_credit_ended(o text) returns boolean language plpgsql stable as $$
begin
  return exists (select 1 from ledger_transfer where org_id = o and transfer_id = 'expiry:sandbox')
    or exists (
      select 1 from ledger_transfer g
        join ledger_transfer h on h.org_id = o and h.seq > g.seq and h.phase = 'pending' and h.ref_type = 'license_purchase'
        join license_purchase p on p.org_id = o and p.purchase_id = h.ref_id and not p.is_test
      where g.org_id = o and g.transfer_id = 'promo:sandbox');
end $$;

-- Takes what is unused, but no more than `most`.
create function expire_test_credit(o text, most numeric, at timestamptz) returns void language plpgsql as $$
declare
  unused numeric := least(most, unused_test_credit(o));
  times  bigint;
begin
  if unused <= 0 then return; end if;
  select count(*) into times from ledger_transfer
    where org_id = o and ref_type = 'grant' and ref_id = 'sandbox' and code = 'expiry';
  perform ledger_apply(o, jsonb_build_array(jsonb_build_object(
    'id', 'expiry:sandbox' || case when times = 0 then '' else ':' || times + 1 end, 'group', 'promo:sandbox', 'code', 'expiry',
    'refType', 'grant', 'refId', 'sandbox', 'phase', 'single', 'dr', 'credit', 'cr', 'promo', 'amount', unused::text)), at);
end $$;

drop function end_test_credit(text, numeric, timestamptz);

-- Before anything but a licence of the sandbox is paid for. Takes the lock of the credit, where the ledger's turn is.
create function end_test_credit(o text, at timestamptz) returns void language plpgsql as $$
declare
  available numeric;
begin
  if not exists (select 1 from ledger_transfer where org_id = o and transfer_id = 'promo:sandbox') then return; end if;
  select cr_posted - dr_posted - dr_pending into available from ledger_account where org_id = o and account = 'credit' for update;
  if has_test_credit_ended(o) then return; end if;
  perform expire_test_credit(o, available, at);
end $$;

-- After `back` has come back to the credit from a purchase: what of it was test credit goes where that came from, once it has ended.
create function take_back_test_credit(o text, purchase_ text, back numeric, at timestamptz) returns void language plpgsql as $$
begin
  if not exists (select 1 from license_purchase where org_id = o and purchase_id = purchase_ and is_test) then return; end if;
  perform 1 from ledger_account where org_id = o and account = 'credit' for update;
  if not exists (select 1 from test_holds(o) where ref_id = purchase_) or not has_test_credit_ended(o) then return; end if;
  perform expire_test_credit(o, back, at);
end $$;

-- As before; `is_test` is kept of each.
create or replace function write_purchases(o text, asks jsonb) returns void language plpgsql as $$
declare
  ask jsonb;
  now_at timestamptz;
  outcome jsonb;
begin
  for i in 0 .. jsonb_array_length(asks) - 1 loop
    ask := asks -> i;
    now_at := (ask ->> 'at')::timestamptz;
    outcome := budget_reserve(o, 'purchase:' || (ask -> 'purchase' ->> 'purchaseId'), (ask -> 'purchase' ->> 'amount')::numeric,
      array(select jsonb_array_elements_text(ask -> 'subjects')), now_at);
    if outcome ? 'refused' then raise exception using errcode = 'SR402', detail = jsonb_build_object('budget', outcome)::text; end if;
    perform tell_thresholds(o, outcome -> 'reached', ask -> 'events' -> 0 ->> 'id', ask ->> 'apiVersion', ask ->> 'tenantId', now_at);
  end loop;
  insert into license_purchase (org_id, purchase_id, instance_id, tenant_id, principal, slug, name, provider, sku, term, quantity,
    amount, fields, vault_mode, vault_name, vault_id, recipient_kid, recipient_key, subjects, state, quote_valid_until, next_at,
    created_at, updated_at, is_test)
  select o, p ->> 'purchaseId', p ->> 'instanceId', a ->> 'tenantId', a ->> 'principal', p ->> 'slug', p ->> 'name', p ->> 'provider',
    p ->> 'sku', p ->> 'term', (p ->> 'quantity')::integer, (p ->> 'amount')::numeric, p -> 'fields', p ->> 'vaultMode',
    p ->> 'vaultName', p ->> 'vaultId', p ->> 'recipientKid', p -> 'recipientKey',
    array(select jsonb_array_elements_text(a -> 'subjects')), 'reserved', (p ->> 'quoteValidUntil')::timestamptz,
    (a ->> 'at')::timestamptz, (a ->> 'at')::timestamptz, (a ->> 'at')::timestamptz, a ->> 'endsGrant' is null
  from (select value as a, value -> 'purchase' as p from jsonb_array_elements(asks) offset 0) each_;
  insert into license_transition (org_id, object_id, seq, from_state, to_state, cause, actor, at)
  select o, a -> 'purchase' ->> 'purchaseId', 1, null, 'reserved', 'purchased', a ->> 'principal', (a ->> 'at')::timestamptz
  from jsonb_array_elements(asks) as each_ (a);
  -- What they are about is new: each is the first that is told of it.
  insert into outbox_sequence (org_id, object_type, object_id, sequence)
  select o, e ->> 'objectType', a -> 'purchase' ->> 'purchaseId', 1
  from jsonb_array_elements(asks) as each_ (a), jsonb_array_elements(a -> 'events') as told (e);
  insert into outbox_event (org_id, event_id, type, body, tenant_id, occurred_at)
  select o, e ->> 'id', e ->> 'type', e ->> 'body', a ->> 'tenantId', (a ->> 'at')::timestamptz
  from jsonb_array_elements(asks) with ordinality as each_ (a, n), jsonb_array_elements(a -> 'events') with ordinality as told (e, m)
  order by n, m;
  insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, error_code, request_id,
    ip, user_agent, metadata)
  select o, e ->> 'event_id', e ->> 'action', (e ->> 'occurred_at')::timestamptz, e ->> 'actor_type', e ->> 'actor_id',
    (e ->> 'targets')::jsonb, e ->> 'outcome', e ->> 'error_code', e ->> 'request_id', e ->> 'ip', e ->> 'user_agent',
    (e ->> 'metadata')::jsonb
  from (select value -> 'audit' as e from jsonb_array_elements(asks) offset 0) each_;
  if asks -> 0 ->> 'endsGrant' is not null then perform end_test_credit(o, now_at); end if;
  outcome := ledger_apply(o, (
    select jsonb_agg(t order by n, m) from jsonb_array_elements(asks) with ordinality as each_ (a, n),
      jsonb_array_elements(a -> 'transfers') with ordinality as moved (t, m)), now_at);
  if outcome ? 'refused' then raise exception using errcode = 'SR402', detail = jsonb_build_object('ledger', outcome)::text; end if;
end $$;

-- As before. Whoever reserves holds the budgets of the organisation in common, before any other lock of them, until everything is stored:
-- whoever counts what was reserved holds them alone, and waits until it can be seen. A refusal says of which kind the window is.
create or replace function budget_reserve(book text, owner_ text, wanted numeric, subjects_ text[], at timestamptz)
  returns jsonb language plpgsql as $$
declare
  known   budget_reservation;
  b       budget;
  r       budget_rule;
  w       budget_window;
  used    numeric;
  reached jsonb := '[]';
  applying text[];
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('budgets ' || book, 0));
  insert into budget_reservation (org_id, owner, amount, subjects, state, held_at)
    values (book, owner_, wanted, subjects_, 'held', at) on conflict do nothing;
  if not found then
    select * into known from budget_reservation where org_id = book and owner = owner_;
    if known.amount = wanted and known.state = 'held' then return '{"held": true, "reached": []}'; end if;
    return jsonb_build_object('refused', 'owner_has_reserved');
  end if;
  select array_agg(n.budget_id) into applying from unnest(subjects_) as s (subject)
    cross join lateral (
      select budget_id from budget
      where org_id = book and status = 'active' and subject_type = split_part(s.subject, ' ', 1)
        and subject_id = split_part(s.subject, ' ', 2) offset 0) n;
  for b in
    select * from budget where org_id = book and status = 'active' and budget_id = any(applying)
    order by budget_id for share
  loop
    if b.enforcement = 'hard' and wanted > b.per_transaction_limit then
      return jsonb_build_object('refused', 'transaction_limit', 'budgetId', b.budget_id, 'subjectType', b.subject_type,
        'subjectId', b.subject_id, 'limit', b.per_transaction_limit::text);
    end if;
    for r in
      select * from budget_rule where org_id = book and budget_id = b.budget_id and is_active order by rule_no
    loop
      continue when at < r.starts_at or at >= r.ends_at;
      insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
        select book, b.budget_id, r.rule_no, n.starts_at, n.ends_at from budget_window_at(r, at) n on conflict do nothing;
      select x.* into w from budget_window x, budget_window_at(r, at) n
        where x.org_id = book and x.budget_id = b.budget_id and x.rule_no = r.rule_no and x.starts_at = n.starts_at
        for update of x;
      used := budget_used(r, w, at);
      if b.enforcement = 'hard' and used + wanted > r.amount then
        return jsonb_build_object('refused', 'exceeded', 'budgetId', b.budget_id, 'subjectType', b.subject_type,
          'subjectId', b.subject_id, 'ruleNo', r.rule_no, 'kind', r.kind, 'startsAt', w.starts_at,
          'remaining', greatest(r.amount - used, 0)::text, 'resetsAt', case when r.kind = 'rolling' then null else w.ends_at end);
      end if;
      insert into budget_hold (org_id, owner, budget_id, rule_no, starts_at, held_at, amount)
        values (book, owner_, b.budget_id, r.rule_no, w.starts_at, at, wanted);
      update budget_window x set reserved = x.reserved + wanted
        where x.org_id = book and x.budget_id = b.budget_id and x.rule_no = r.rule_no and x.starts_at = w.starts_at;
      with told as (
        insert into budget_threshold (org_id, budget_id, rule_no, starts_at, threshold, reached_at)
          select book, b.budget_id, r.rule_no, w.starts_at, t, at from unnest(b.thresholds) t
          where (used + wanted) * 100 >= r.amount * t and r.amount > 0 and r.kind <> 'rolling'
          on conflict do nothing returning threshold)
      select reached || coalesce(jsonb_agg(jsonb_build_object('budgetId', b.budget_id, 'ruleNo', r.rule_no,
          'startsAt', w.starts_at, 'threshold', threshold) order by threshold), '[]')
        into reached from told;
    end loop;
  end loop;
  return jsonb_build_object('held', true, 'reached', reached);
end $$;

-- As before, with the budgets held in common.
create or replace function lock_windows(book text, subjects_ text[], since timestamptz, until timestamptz) returns void language plpgsql as $$
declare
  b       budget;
  r       budget_rule;
  at      timestamptz;
  ends    timestamptz;
  applying text[];
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('budgets ' || book, 0));
  select array_agg(n.budget_id) into applying from unnest(subjects_) as s (subject)
    cross join lateral (
      select budget_id from budget
      where org_id = book and status = 'active' and subject_type = split_part(s.subject, ' ', 1)
        and subject_id = split_part(s.subject, ' ', 2) offset 0) n;
  if applying is null then return; end if;
  for b in
    select * from budget where org_id = book and status = 'active' and budget_id = any(applying)
    order by budget_id for share
  loop
    for r in
      select * from budget_rule where org_id = book and budget_id = b.budget_id and is_active order by rule_no
    loop
      ends := null;
      foreach at in array array[since, until] loop
        continue when at < r.starts_at or at >= r.ends_at or at < ends;
        insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
          select book, b.budget_id, r.rule_no, n.starts_at, n.ends_at from budget_window_at(r, at) n on conflict do nothing;
        select coalesce(x.ends_at, 'infinity') into ends from budget_window x, budget_window_at(r, at) n
          where x.org_id = book and x.budget_id = b.budget_id and x.rule_no = r.rule_no and x.starts_at = n.starts_at
          for update of x;
      end loop;
    end loop;
  end loop;
end $$;

-- As before, with the budgets held alone.
create or replace function budget_count_earlier(book text, budget_ text, subject text, at timestamptz) returns void language plpgsql as $$
declare
  r budget_rule;
  n record;
begin
  perform pg_advisory_xact_lock(hashtextextended('budgets ' || book, 0));
  for r in select * from budget_rule where org_id = book and budget_id = budget_ and is_active order by rule_no loop
    select * into n from budget_window_at(r, at);
    insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
      values (book, budget_, r.rule_no, n.starts_at, n.ends_at) on conflict do nothing;
    insert into budget_hold (org_id, owner, budget_id, rule_no, starts_at, held_at, amount)
      select book, v.owner, budget_, r.rule_no, n.starts_at, v.held_at, case when v.state = 'held' then v.amount else v.committed end
      from budget_reservation v
      where v.org_id = book and subject = any(v.subjects)
        and v.held_at >= case when r.kind = 'rolling' then at - make_interval(secs => r.duration) else n.starts_at end
      order by v.owner for update;
    update budget_window w set (reserved, spent) = (
      select coalesce(sum(h.amount) filter (where v.state = 'held'), 0), coalesce(sum(h.amount) filter (where v.state <> 'held'), 0)
      from budget_hold h join budget_reservation v using (org_id, owner)
      where h.org_id = book and h.budget_id = budget_ and h.rule_no = r.rule_no)
    where w.org_id = book and w.budget_id = budget_ and w.rule_no = r.rule_no and w.starts_at = n.starts_at;
  end loop;
end $$;

-- Whether the database has a time zone of this name.
create function is_time_zone(name text) returns boolean language plpgsql stable as $$
begin
  perform now() at time zone name;
  return true;
exception
  when invalid_parameter_value then return false;
end $$;
