-- Who asks is found on every request, so its cost is the floor of every answer. Three things made it many times what it must be:
-- each statement inside was planned anew at every call, as connections ask for (plan_cache_mode); one condition over direct and
-- inherited roles read all roles of an organisation; and requests that come together asked one by one.

create or replace function roles_of(org text, a text, u text) returns jsonb language plpgsql stable set plan_cache_mode = 'force_generic_plan' as $$
begin
  return (
    select coalesce(jsonb_agg(distinct jsonb_build_object('tenantId', tenant_id, 'role', role)), '[]')
    from (
      select tenant_id, role from tenant_role where org_id = org and agent_id = a
      union all
      select tenant_id, role from tenant_role where org_id = org and user_id = u
      union all
      select r.tenant_id, r.role from group_member m join tenant_role r on r.org_id = m.org_id and r.group_id = m.group_id
      where m.org_id = org and m.agent_id = a
      union all
      select r.tenant_id, r.role from group_member m join tenant_role r on r.org_id = m.org_id and r.group_id = m.group_id
      where m.org_id = org and m.user_id = u
    ) as held);
end $$;

alter function authenticate_session(bytea, timestamptz) set plan_cache_mode = 'force_generic_plan';

-- As before, a transaction sees exactly the rows whose public halves it has named; now it may name several.
drop policy named_key on api_key;
create policy named_keys on api_key for select using (access_key = any(string_to_array(current_setting('app.access_keys', true), ',')));

-- A row for each key that exists. Stable: key, principal and roles are read as of one moment. Principals are read under the
-- organisation of their key, one organisation after the other.
create function authenticate_keys(keys text[]) returns table (access_key text, found jsonb)
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
          select jsonb_build_object('agentId', agent_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'permissions', permissions)
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
drop function authenticate_key(text);

grant execute on function authenticate_keys(text[]) to strongroom_app, strongroom_worker;
