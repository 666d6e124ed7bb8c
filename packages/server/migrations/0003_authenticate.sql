-- One round trip from a credential to everything that is decided by it: the row, the principal, its permissions and roles.

create function roles_of(org text, a text, u text) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(distinct jsonb_build_object('tenantId', tenant_id, 'role', role)), '[]')
  from tenant_role
  where org_id = org and (
    (a is not null and agent_id = a) or (u is not null and user_id = u)
    or group_id in (select group_id from group_member where org_id = org and ((a is not null and agent_id = a) or (u is not null and user_id = u)))
  )
$$;

create function authenticate_key(key text) returns jsonb language plpgsql as $$
declare
  k record;
  result jsonb;
begin
  perform set_config('app.access_key', key, true);
  select org_id, key_id, secret_hmac, agent_id, user_id, global_admin, permissions, status into k from api_key where access_key = key;
  if not found then return null; end if;
  perform set_config('app.org', k.org_id, true);
  select jsonb_build_object(
    'orgId', k.org_id, 'keyId', k.key_id, 'secretHmac', encode(k.secret_hmac, 'hex'), 'globalAdmin', k.global_admin, 'keyStatus', k.status,
    'agent', (select jsonb_build_object('agentId', agent_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'permissions', permissions) from agent where org_id = k.org_id and agent_id = k.agent_id),
    'user', (select jsonb_build_object('userId', user_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'orgRoles', org_roles) from org_user where org_id = k.org_id and user_id = k.user_id),
    'permissions', k.permissions,
    'roles', roles_of(k.org_id, k.agent_id, k.user_id)
  ) into result;
  return result;
end $$;

create function authenticate_session(hash bytea, at timestamptz) returns jsonb language plpgsql as $$
declare
  s record;
  result jsonb;
begin
  perform set_config('app.token_hash', encode(hash, 'hex'), true);
  select org_id, session_id, user_id, device_installation_id, last_used_at, expires_at, revoked_at into s from session where token_hash = hash;
  if not found then return null; end if;
  perform set_config('app.org', s.org_id, true);
  select jsonb_build_object(
    'orgId', s.org_id, 'sessionId', s.session_id, 'deviceInstallationId', s.device_installation_id,
    'live', s.revoked_at is null and s.expires_at > at and s.last_used_at > at - interval '30 minutes',
    'lastUsedAt', s.last_used_at,
    'user', (select jsonb_build_object('userId', user_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'orgRoles', org_roles) from org_user where org_id = s.org_id and user_id = s.user_id),
    'roles', roles_of(s.org_id, null, s.user_id)
  ) into result;
  -- Idle time is counted by the minute: a write on every request would cost more than it tells.
  if s.last_used_at < at - interval '1 minute' then
    update session set last_used_at = at where org_id = s.org_id and session_id = s.session_id and revoked_at is null;
  end if;
  return result;
end $$;

grant execute on all functions in schema strongroom to strongroom_app, strongroom_worker;
