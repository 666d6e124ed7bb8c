-- What limits an agent whichever key it has: a time from which on it is refused, and the networks it may be used from. Both are judged where
-- the key is: an agent without limits costs one comparison more, and no statement.

alter table agent
  add column expires_at timestamptz,
  add column networks inet[] not null default '{}' check (cardinality(networks) <= 32);

-- As the server judges it by itself: what is refused there must not have been recorded here as a read.
create function within_limits(limits jsonb, at timestamptz, ip text) returns boolean language sql stable as $$
  select coalesce((limits ->> 'expiresAt')::timestamptz > at, true)
    and (limits -> 'networks' = '[]' or exists (
      select from jsonb_array_elements_text(limits -> 'networks') as n where nullif(ip, '')::inet <<= n::inet))
$$;
grant execute on function within_limits(jsonb, timestamptz, text) to strongroom_app, strongroom_worker;

-- As before, with the limits of the agent beside its permissions.
create or replace function authenticate_keys(keys text[]) returns table (access_key text, found jsonb)
language plpgsql stable set plan_cache_mode = 'force_generic_plan' as $$
#variable_conflict use_column
declare
  o text;
  named text;
begin
  named := set_config('app.access_keys', array_to_string(keys, ','), true);
  for o in select distinct org_id from api_key where access_key = any(keys) loop
    named := set_config('app.org', o, true);
    return query
      select k.access_key, jsonb_build_object(
        'orgId', k.org_id, 'keyId', k.key_id, 'secretHmac', encode(k.secret_hmac, 'hex'), 'globalAdmin', k.global_admin, 'keyStatus', k.status,
        'permissions', k.permissions,
        'agent', (
          select jsonb_build_object('agentId', agent_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'permissions', permissions,
            'limits', case when expires_at is not null or networks <> '{}' then jsonb_build_object('expiresAt', expires_at, 'networks', networks) end)
          from agent a where a.org_id = k.org_id and a.agent_id = k.agent_id),
        'user', (
          select jsonb_build_object('userId', user_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'orgRoles', org_roles)
          from org_user u where u.org_id = k.org_id and u.user_id = k.user_id),
        'roles', (
          select coalesce(jsonb_agg(distinct jsonb_build_object('tenantId', tenant_id, 'role', role)), '[]')
          from (
            select tenant_id, role from tenant_role where org_id = k.org_id and agent_id = k.agent_id
            union all
            select tenant_id, role from tenant_role where org_id = k.org_id and user_id = k.user_id
            union all
            select r.tenant_id, r.role from group_member m join tenant_role r on r.org_id = m.org_id and r.group_id = m.group_id
            where m.org_id = k.org_id and m.agent_id = k.agent_id
            union all
            select r.tenant_id, r.role from group_member m join tenant_role r on r.org_id = m.org_id and r.group_id = m.group_id
            where m.org_id = k.org_id and m.user_id = k.user_id
          ) as held))
      from api_key k where k.org_id = o and k.access_key = any(keys);
  end loop;
end $$;

-- As before, and whoever is outside of their limits reads nothing.
create or replace function read_environments(asks jsonb) returns table (key text, "row" text)
language plpgsql volatile set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  o text;
  orgs text[];
  access_keys text[];
  found_keys jsonb[];
  log text;
begin
  select array_agg(f.access_key), array_agg(f.found), array_agg(distinct f.found ->> 'orgId') into access_keys, found_keys, orgs
  from authenticate_keys(array(select distinct q ->> 'accessKey' from jsonb_array_elements(asks) as q)) as f;
  foreach o in array coalesce(orgs, '{}') loop
    perform set_config('app.org', o, true);
    select size || ' ' || cosigned into log from log_state where org_id = o;
    return query
    with asked as materialized (
      select a.*, k.found, case when k.found ->> 'secretHmac' = a."secretHmac" and k.found ->> 'keyStatus' = 'active'
          and coalesce(k.found -> 'agent' ->> 'status', k.found -> 'user' ->> 'status') = 'active'
          and coalesce(k.found -> 'agent' -> 'permissions', k.found -> 'permissions')
            ?| array['machine.vault.secret.read', 'machine.vault.all', 'machine.all']
          and (k.found -> 'agent' ->> 'limits' is null or within_limits(k.found -> 'agent' -> 'limits', a.at, a.ip))
        then coalesce('agent:' || (k.found -> 'agent' ->> 'agentId'), 'user:' || (k.found -> 'user' ->> 'userId')) end as who
      from jsonb_to_recordset(asks) as a ("eventId" text, "accessKey" text, "secretHmac" text, "vaultId" text, keys boolean, at timestamptz,
        "requestId" text, ip text, "userAgent" text)
      join unnest(access_keys, found_keys) as k (access_key, found) on k.access_key = a."accessKey"
      where k.found ->> 'orgId' = o
    ), headed as materialized (
      select q.*, v.head_version, v.head_hash from asked q
      left join (vault_access x join vault v on v.org_id = o and v.vault_id = x.vault_id)
        on x.org_id = o and x.vault_id = q."vaultId" and x.principal = q.who and x.role is not null
    -- Whoever asks for a key and has been given none is refused, and nothing was read.
    ), held as materialized (
      select h."eventId", h."vaultId", m.state ->> 'kid' as kid
      from headed h join map_state m on m.org_id = o and m.principal = h.who
      where h.keys and h.head_hash is not null and m.state ->> 'status' = 'active'
    ), given as materialized (
      select h."eventId" from held h join map_state g on g.org_id = o and g.kid = h.kid and g.vault_id = h."vaultId" and g.is_live
    ), granted as materialized (
      select h.*, h.head_hash is not null and (not h.keys or h."eventId" in (select "eventId" from given)) as may from headed h
    ), recorded as (
      insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, request_id, ip, user_agent)
      select o, "eventId", 'vault.environment.read', at, split_part(who, ':', 1), who,
        jsonb_build_array(jsonb_build_object('type', 'vault', 'id', "vaultId")), 'success', "requestId", ip, "userAgent"
      from granted where may
    )
    select "eventId", concat(case when may then concat_ws(' ', head_version, head_hash, log) end, e'\n', found) from granted;
  end loop;
end $$;
