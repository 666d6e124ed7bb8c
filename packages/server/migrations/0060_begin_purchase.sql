-- A purchase is begun in one statement: what its rules ask for is looked up, and everything it leaves is written, or nothing. What is
-- decided over signed documents is decided by the server and holds for their hashes; here is only seen that they are still the ones. It
-- keeps its plans, and so does everything it calls: planning them costs many times what running them does.

-- What a buyer has to have, as it is now; the documents with it only where they are asked for.
create function purchase_facts(o text, ask jsonb, with_documents boolean) returns jsonb language plpgsql stable as $$
declare
  key_state jsonb;
  policy_hash text;
begin
  select state into key_state from map_state
  where org_id = o and principal = ask ->> 'principal' and state ->> 'status' = 'active'
  order by (state ->> 'added')::bigint desc, name limit 1;
  select state ->> 'policyHash' into policy_hash from map_state where org_id = o and name = 'policy';
  return jsonb_build_object(
    'isTenantActive', coalesce((select status = 'active' from tenant where org_id = o and tenant_id = ask ->> 'tenantId'), false),
    'documents', jsonb_build_object('kid', key_state ->> 'kid', 'record', key_state ->> 'rec', 'policy', policy_hash),
    'vault', case when ask ->> 'vaultId' is not null then (
      select jsonb_build_object('orgId', o, 'vaultId', v.vault_id, 'role', a.role, 'status', v.status,
        'headVersion', v.head_version, 'headHash', v.head_hash)
      from vault_access a join vault v on v.org_id = o and v.vault_id = a.vault_id
      where a.org_id = o and a.vault_id = ask ->> 'vaultId' and a.principal = ask ->> 'principal' and a.role is not null) end)
    || case when with_documents then jsonb_build_object(
      'record', (select envelope from log_document where org_id = o and doc_hash = key_state ->> 'rec'),
      'policy', (select envelope from log_document where org_id = o and doc_hash = policy_hash)) else '{}' end;
end $$;

-- Whose budgets what somebody spends counts in: the organisation, the tenant and those above it, the agent, the person.
create function budget_subjects(o text, tenant_ text, agent_ text, user_ text) returns text[] language plpgsql stable as $$
declare
  subjects text[] := array['org ' || o];
  t text := tenant_;
begin
  while t is not null and 'tenant ' || t <> all(subjects) loop
    subjects := subjects || ('tenant ' || t);
    select parent_id into t from tenant where org_id = o and tenant_id = t;
  end loop;
  if agent_ is not null then subjects := subjects || ('agent ' || agent_); end if;
  if user_ is not null then subjects := subjects || ('user ' || user_); end if;
  return subjects;
end $$;

-- Test credit buys nothing that somebody has to be paid for: what is left of the grant goes with the first purchase of anything else. Takes
-- the lock of the credit, where the ledger's turn is.
create function end_test_credit(o text, granted numeric, at timestamptz) returns void language plpgsql as $$
declare
  unused numeric;
begin
  if not exists (select 1 from ledger_transfer where org_id = o and transfer_id = 'promo:sandbox') then return; end if;
  perform 1 from ledger_account where org_id = o and account = 'credit' for update;
  if exists (select 1 from ledger_transfer where org_id = o and transfer_id = 'expiry:sandbox') then return; end if;
  select least(c.cr_posted - c.dr_posted - c.dr_pending, granted - coalesce((
      select p.cr_posted - p.dr_posted from ledger_account p where p.org_id = o and p.account = 'payable:builtin'), 0))
    into unused from ledger_account c where c.org_id = o and c.account = 'credit';
  if unused > 0 then
    perform ledger_apply(o, jsonb_build_array(jsonb_build_object('id', 'expiry:sandbox', 'group', 'promo:sandbox', 'code', 'expiry',
      'refType', 'grant', 'refId', 'sandbox', 'phase', 'single', 'dr', 'credit', 'cr', 'promo', 'amount', unused::text)), at);
  end if;
end $$;

-- Tells of thresholds that a purchase has reached, as the outbox does; `seed` makes the ids of the events.
create function tell_thresholds(o text, reached jsonb, seed text, api_version text, tenant_ text, at timestamptz) returns void
language plpgsql as $$
declare
  r record;
  id_ text;
  number_ bigint;
begin
  for r in select value as object, ordinality as n from jsonb_array_elements(reached) with ordinality order by ordinality loop
    id_ := 'evt_' || left(encode(sha256(convert_to(seed || ' ' || r.n, 'UTF8')), 'hex'), 22);
    insert into outbox_sequence (org_id, object_type, object_id, sequence) values (o, 'budget', r.object ->> 'budgetId', 1)
      on conflict (org_id, object_type, object_id) do update set sequence = outbox_sequence.sequence + 1
      returning sequence into number_;
    insert into outbox_event (org_id, event_id, type, body, tenant_id, occurred_at)
    values (o, id_, 'budget.threshold_reached', json_build_object('id', id_, 'type', 'budget.threshold_reached',
      'timestamp', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'apiVersion', api_version, 'sequence', number_,
      'synthetic', false, 'org', o, 'tenant', tenant_, 'data', json_build_object('object', json_build_object('type', 'budget',
      'id', r.object -> 'budgetId', 'ruleNo', r.object -> 'ruleNo', 'startsAt', r.object -> 'startsAt',
      'threshold', r.object -> 'threshold')))::text, tenant_, at);
  end loop;
end $$;

-- Everything a purchase leaves, in the one order of locks: the claim, budgets, the row of the purchase, the ledger last. A refusal is
-- raised, so that nothing stays.
create function write_purchase(o text, ask jsonb) returns void language plpgsql as $$
declare
  p jsonb := ask -> 'purchase';
  id_ text := p ->> 'purchaseId';
  tenant_ text := ask ->> 'tenantId';
  now_at timestamptz := (ask ->> 'at')::timestamptz;
  subjects_ text[] := budget_subjects(o, tenant_, ask ->> 'agentId', ask ->> 'userId');
  outcome jsonb;
begin
  outcome := budget_reserve(o, 'purchase:' || id_, (p ->> 'amount')::numeric, subjects_, now_at);
  if outcome ? 'refused' then raise exception using errcode = 'SR402', detail = jsonb_build_object('budget', outcome)::text; end if;
  perform tell_thresholds(o, outcome -> 'reached', ask -> 'events' -> 0 ->> 'id', ask ->> 'apiVersion', tenant_, now_at);
  insert into license_purchase (org_id, purchase_id, instance_id, tenant_id, principal, slug, name, provider, sku, term, quantity,
    amount, fields, vault_mode, vault_name, vault_id, recipient_kid, recipient_key, subjects, state, quote_valid_until, next_at,
    created_at, updated_at)
  values (o, id_, p ->> 'instanceId', tenant_, ask ->> 'principal', p ->> 'slug', p ->> 'name', p ->> 'provider', p ->> 'sku',
    p ->> 'term', (p ->> 'quantity')::integer, (p ->> 'amount')::numeric, p -> 'fields', p ->> 'vaultMode', p ->> 'vaultName',
    p ->> 'vaultId', p ->> 'recipientKid', p -> 'recipientKey', subjects_, 'reserved', (p ->> 'quoteValidUntil')::timestamptz, now_at,
    now_at, now_at);
  insert into license_transition (org_id, object_id, seq, from_state, to_state, cause, actor, at)
  values (o, id_, 1, null, 'reserved', 'purchased', ask ->> 'principal', now_at);
  -- What they are about is new: each is the first that is told of it.
  insert into outbox_sequence (org_id, object_type, object_id, sequence)
  select o, e ->> 'objectType', id_, 1 from jsonb_array_elements(ask -> 'events') as e;
  insert into outbox_event (org_id, event_id, type, body, tenant_id, occurred_at)
  select o, value ->> 'id', value ->> 'type', value ->> 'body', tenant_, now_at
  from jsonb_array_elements(ask -> 'events') with ordinality order by ordinality;
  insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, error_code, request_id,
    ip, user_agent, metadata)
  select o, e ->> 'event_id', e ->> 'action', (e ->> 'occurred_at')::timestamptz, e ->> 'actor_type', e ->> 'actor_id',
    (e ->> 'targets')::jsonb, e ->> 'outcome', e ->> 'error_code', e ->> 'request_id', e ->> 'ip', e ->> 'user_agent',
    (e ->> 'metadata')::jsonb
  from (select ask -> 'audit') as event (e);
  if ask ->> 'endsGrant' is not null then perform end_test_credit(o, (ask ->> 'endsGrant')::numeric, now_at); end if;
  outcome := ledger_apply(o, ask -> 'transfers', now_at);
  if outcome ? 'refused' then raise exception using errcode = 'SR402', detail = jsonb_build_object('ledger', outcome)::text; end if;
end $$;

-- The answer that is stored under a key of idempotency.
create function stored_request(o text, who text, key_ bytea) returns jsonb language sql stable as $$
  select jsonb_build_object('stored', jsonb_build_object('requestHash', encode(request_hash, 'hex'), 'body', body))
  from idempotency where org_id = o and principal = who and key_hash = key_
$$;

-- ask: principal, tenantId, agentId, userId, at, vaultId (null where a new one is made); request (keyHash, requestHash, status, or null);
-- documents (over which was decided; null where nothing is decided yet), and then purchase, events, audit, transfers, endsGrant, apiVersion.
-- Gives one of: stored (the answer to an earlier request with this key), inProgress, facts (a rule is not met or was decided over other
-- documents: nothing was written), budget or ledger (the refusal, and nothing was written), begun.
create function begin_purchase(o text, ask jsonb, answer jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  request_ jsonb := nullif(ask -> 'request', 'null');
  key_ bytea := decode(request_ ->> 'keyHash', 'hex');
  facts jsonb;
  refusal text;
  outcome jsonb;
  is_claiming boolean := false;
begin
  perform set_config('app.org', o, true);
  facts := purchase_facts(o, ask, false);
  if facts -> 'documents' is distinct from ask -> 'documents' or not (facts ->> 'isTenantActive')::boolean
    or (ask ->> 'vaultId' is not null
      and (facts -> 'vault' ->> 'role' in ('write', 'admin') and facts -> 'vault' ->> 'status' = 'active') is not true)
  then
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
    perform write_purchase(o, ask);
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

-- As before, without planning a sum where there is none: a function in SQL is planned anew by every statement that calls it.
create or replace function budget_used(r budget_rule, w budget_window, at timestamptz) returns numeric language plpgsql stable as $$
begin
  if r.kind <> 'rolling' then return w.reserved + w.spent; end if;
  return coalesce((
    select sum(h.amount) from budget_hold h
    where h.org_id = r.org_id and h.budget_id = r.budget_id and h.rule_no = r.rule_no
      and h.held_at > at - make_interval(secs => r.duration)), 0);
end $$;

-- As before; the accounts of holds are looked up one by one. Under row-level security the condition over all of them at once used no
-- index, and read the whole book of the organisation.
create or replace function ledger_apply(book text, entries jsonb, at timestamptz) returns jsonb language plpgsql as $$
declare
  e        jsonb;
  names    text[] := array['credit'];
  held     ledger_transfer;
  known    ledger_transfer;
  d        text;
  c        text;
  amount_  numeric;
  applied  integer := 0;
  own      ledger_account;
  short    numeric;
begin
  for e in select value from jsonb_array_elements(entries) loop
    names := names || (e ->> 'dr') || (e ->> 'cr');
    -- Holds that are resolved name their accounts themselves.
    if e ->> 'pendingId' is not null then
      names := names || array(
        select unnest(array[dr, cr]) from ledger_transfer where org_id = book and transfer_id = e ->> 'pendingId');
    end if;
  end loop;
  insert into ledger_account (org_id, account, no_overdraft)
    select book, account, account = 'credit' from (select distinct unnest(names) as account) named
    where account is not null
    order by account
    on conflict do nothing;
  perform 1 from ledger_account a where a.org_id = book and a.account = any(names) order by a.account for update;

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

-- As before; the budgets of each subject are found by the index, where every budget of the organisation was read.
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
          'subjectId', b.subject_id, 'ruleNo', r.rule_no, 'startsAt', w.starts_at,
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
