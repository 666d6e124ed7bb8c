-- Who is told of budgets and purchases is who sees them: whoever listens hears no more than they could read.

-- Whose a budget is: a principal and its tenant, all of a tenant, or everybody.
create function budget_scope(o text, budget_ text) returns table (tenant_id text, principal text) language sql stable as $$
  select case b.subject_type
      when 'tenant' then b.subject_id
      when 'agent' then (select a.tenant_id from agent a where a.org_id = o and a.agent_id = b.subject_id)
      when 'user' then (select min(r.tenant_id) from tenant_role r where r.org_id = o and r.user_id = b.subject_id)
    end,
    case when b.subject_type in ('agent', 'user') then b.subject_type || ':' || b.subject_id end
  from budget b where b.org_id = o and b.budget_id = budget_
$$;

-- As before, to those who see the budget, whoever has spent. `tenant_` is not asked any more.
create or replace function tell_thresholds(o text, reached jsonb, seed text, api_version text, tenant_ text, at timestamptz) returns void
language plpgsql as $$
declare
  r record;
  scope record;
  id_ text;
  number_ bigint;
begin
  for r in select value as object, ordinality as n from jsonb_array_elements(reached) with ordinality order by ordinality loop
    id_ := 'evt_' || left(encode(sha256(convert_to(seed || ' ' || r.n, 'UTF8')), 'hex'), 22);
    select * into scope from budget_scope(o, r.object ->> 'budgetId');
    insert into outbox_sequence (org_id, object_type, object_id, sequence) values (o, 'budget', r.object ->> 'budgetId', 1)
      on conflict (org_id, object_type, object_id) do update set sequence = outbox_sequence.sequence + 1
      returning sequence into number_;
    insert into outbox_event (org_id, event_id, type, body, tenant_id, principal, occurred_at)
    values (o, id_, 'budget.threshold_reached', json_strip_nulls(json_build_object('id', id_, 'type', 'budget.threshold_reached',
      'timestamp', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'apiVersion', api_version, 'sequence', number_,
      'synthetic', false, 'org', o, 'tenant', scope.tenant_id, 'data', json_build_object('object', json_build_object('type', 'budget',
      'id', r.object -> 'budgetId', 'ruleNo', r.object -> 'ruleNo', 'startsAt', r.object -> 'startsAt',
      'threshold', r.object -> 'threshold'))))::text, scope.tenant_id, scope.principal, at);
  end loop;
end $$;

-- As before. What is told of a purchase is kept for its buyer, and for who manages the money.
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
  insert into outbox_event (org_id, event_id, type, body, tenant_id, principal, occurred_at)
  select o, e ->> 'id', e ->> 'type', e ->> 'body', a ->> 'tenantId', a ->> 'principal', (a ->> 'at')::timestamptz
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
