-- Purchases of one organisation wait for its credit one after the other, so those that wait in one process are begun in one transaction, by
-- one statement. Only where nothing is in the way of any of them: otherwise nothing is written, and each is begun alone.

-- Whether everything that was decided by the server over documents is still so.
create function is_as_decided(facts jsonb, ask jsonb) returns boolean language plpgsql immutable as $$
begin
  return facts -> 'documents' is not distinct from ask -> 'documents' and (facts ->> 'isTenantActive')::boolean
    and (ask ->> 'vaultId' is null
      or (facts -> 'vault' ->> 'role' in ('write', 'admin') and facts -> 'vault' ->> 'status' = 'active') is true);
end $$;

create function with_subjects(o text, ask jsonb) returns jsonb language plpgsql stable as $$
begin
  return ask || jsonb_build_object('subjects', budget_subjects(o, ask ->> 'tenantId', ask ->> 'agentId', ask ->> 'userId'));
end $$;

-- Takes the locks that reserving for any of these subjects at any time from `since` to `until` would take, in the order in which everybody
-- takes them. Whoever holds the credit must not wait for a budget.
create function lock_windows(book text, subjects_ text[], since timestamptz, until timestamptz) returns void language plpgsql as $$
declare
  b       budget;
  r       budget_rule;
  at      timestamptz;
  ends    timestamptz;
  applying text[];
begin
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

-- Everything that purchases leave, in the one order of locks: the claims are there; budgets, the rows of the purchases, the ledger last. A
-- refusal of one of them is raised, so that nothing stays. All of them end the same grant, or none. Each ask has its `subjects`.
create function write_purchases(o text, asks jsonb) returns void language plpgsql as $$
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
    created_at, updated_at)
  select o, p ->> 'purchaseId', p ->> 'instanceId', a ->> 'tenantId', a ->> 'principal', p ->> 'slug', p ->> 'name', p ->> 'provider',
    p ->> 'sku', p ->> 'term', (p ->> 'quantity')::integer, (p ->> 'amount')::numeric, p -> 'fields', p ->> 'vaultMode',
    p ->> 'vaultName', p ->> 'vaultId', p ->> 'recipientKid', p -> 'recipientKey',
    array(select jsonb_array_elements_text(a -> 'subjects')), 'reserved', (p ->> 'quoteValidUntil')::timestamptz,
    (a ->> 'at')::timestamptz, (a ->> 'at')::timestamptz, (a ->> 'at')::timestamptz
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
  if asks -> 0 ->> 'endsGrant' is not null then perform end_test_credit(o, (asks -> 0 ->> 'endsGrant')::numeric, now_at); end if;
  outcome := ledger_apply(o, (
    select jsonb_agg(t order by n, m) from jsonb_array_elements(asks) with ordinality as each_ (a, n),
      jsonb_array_elements(a -> 'transfers') with ordinality as moved (t, m)), now_at);
  if outcome ? 'refused' then raise exception using errcode = 'SR402', detail = jsonb_build_object('ledger', outcome)::text; end if;
end $$;

-- As before; what a purchase leaves is written as that of several is.
create or replace function begin_purchase(o text, ask jsonb, answer jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  request_ jsonb := nullif(ask -> 'request', 'null');
  key_ bytea := decode(request_ ->> 'keyHash', 'hex');
  refusal text;
  outcome jsonb;
  is_claiming boolean := false;
begin
  perform set_config('app.org', o, true);
  if is_as_decided(purchase_facts(o, ask, false), ask) is not true then
    return coalesce(stored_request(o, ask ->> 'principal', key_), jsonb_build_object('facts', purchase_facts(o, ask, true)));
  end if;
  begin
    if request_ is not null then
      is_claiming := true;
      insert into idempotency (org_id, principal, key_hash, request_hash, status, body, created_at)
      values (o, ask ->> 'principal', key_, decode(request_ ->> 'requestHash', 'hex'), (request_ ->> 'status')::integer, answer,
        (ask ->> 'at')::timestamptz)
      on conflict do nothing;
      if not found then return stored_request(o, ask ->> 'principal', key_); end if;
      is_claiming := false;
    end if;
    perform write_purchases(o, jsonb_build_array(with_subjects(o, ask)));
    return '{"begun": true}';
  exception
    when sqlstate 'SR402' then
      get stacked diagnostics refusal = pg_exception_detail;
    when lock_not_available then
      if is_claiming then return '{"inProgress": true}'; end if;
      raise;
  end;
  outcome := refusal::jsonb;
  -- Of each window that had no room is told once.
  return outcome || jsonb_build_object('isTold', exists (
    select 1 from outbox_sequence where org_id = o and object_type = 'budget_exceeded' and object_id =
      concat_ws(' ', outcome -> 'budget' ->> 'budgetId', outcome -> 'budget' ->> 'ruleNo', outcome -> 'budget' ->> 'startsAt')));
end $$;

drop function write_purchase(text, jsonb);

-- asks: as in begin_purchase, in the order they came, each with its documents and with the `answer` to it; no two with the same key. Begins
-- all of them, and says so; or none, where one is refused, has a key that was used before, was decided over other documents, or has to wait too
-- long. The claims are taken first, in one order for everybody: whoever holds a budget or the credit must not wait for a claim.
create function begin_purchases(o text, asks jsonb) returns boolean
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  ask jsonb;
  counted jsonb := '[]';
  keyed integer := 0;
  claimed integer;
begin
  perform set_config('app.org', o, true);
  for i in 0 .. jsonb_array_length(asks) - 1 loop
    ask := asks -> i;
    if is_as_decided(purchase_facts(o, ask, false), ask) is not true then return false; end if;
    if ask ->> 'request' is not null then keyed := keyed + 1; end if;
    counted := counted || with_subjects(o, ask);
  end loop;
  insert into idempotency (org_id, principal, key_hash, request_hash, status, body, created_at)
  select o, a ->> 'principal', decode(a -> 'request' ->> 'keyHash', 'hex'), decode(a -> 'request' ->> 'requestHash', 'hex'),
    (a -> 'request' ->> 'status')::integer, a -> 'answer', (a ->> 'at')::timestamptz
  from jsonb_array_elements(asks) as each_ (a) where a ->> 'request' is not null
  order by a ->> 'principal', a -> 'request' ->> 'keyHash'
  on conflict do nothing;
  get diagnostics claimed = row_count;
  if claimed <> keyed then raise exception using errcode = 'SR402'; end if;
  perform lock_windows(o,
    array(select distinct jsonb_array_elements_text(a -> 'subjects') from jsonb_array_elements(counted) as each_ (a)),
    (select min((a ->> 'at')::timestamptz) from jsonb_array_elements(asks) as each_ (a)),
    (select max((a ->> 'at')::timestamptz) from jsonb_array_elements(asks) as each_ (a)));
  perform write_purchases(o, counted);
  return true;
exception
  when sqlstate 'SR402' or lock_not_available then return false;
end $$;
