-- People: how they log in, are slowed down when they guess, recover, and are invited before they belong to anybody.

alter table login_attempt drop constraint login_attempt_purpose_check;
alter table login_attempt add constraint login_attempt_purpose_check check (purpose in ('setup', 'login', 'invite', 'recovery'));

-- A recovery code outlives changes of the passphrase, so its copy has a version of its own.
alter table user_secret add column recovery_version integer check (recovery_version > 0);
alter table user_secret add column recovery_token_hash bytea check (length(recovery_token_hash) = 32);
alter table user_secret add check (num_nonnulls(recovery_bundle, recovery_version, recovery_token_hash) in (0, 3));

-- Buckets of tries, shared by all processes. Subjects are hashes: the table names nobody.
create table login_throttle (
  subject bytea primary key check (length(subject) = 32),
  tokens  double precision not null,
  at      timestamptz not null
);
create index login_throttle_age on login_throttle (at);
grant select, insert, update, delete on login_throttle to strongroom_app, strongroom_worker;

-- An invitee belongs to no organisation yet and names the invite; its id is as hard to guess as a key.
create unique index invite_id on invite (invite_id);
create policy named_invite on invite for select using (invite_id = nullif(current_setting('app.invite', true), ''));

-- From an address to what a login needs, in one round trip for known and unknown addresses alike.
create function find_login(login text, device text) returns jsonb language plpgsql as $$
declare
  u record;
begin
  perform set_config('app.login', login, true);
  select org_id, user_id into u from org_user where lower(email) = login and status = 'active';
  if not found then return null; end if;
  perform set_config('app.org', u.org_id, true);
  return (
    select jsonb_build_object(
      'orgId', u.org_id, 'userId', u.user_id, 'record', opaque_record, 'kid', kid, 'kdf', kdf, 'bundleVersion', bundle_version,
      'knowsDevice', exists (select 1 from session where org_id = u.org_id and user_id = u.user_id and device_installation_id = device)
    )
    from user_secret where org_id = u.org_id and user_id = u.user_id
  );
end $$;

-- The organisation of an invite; the transaction then works in it.
create function find_invite(wanted text) returns text language plpgsql as $$
declare
  found_org text;
begin
  perform set_config('app.invite', wanted, true);
  select org_id into found_org from invite where invite_id = wanted;
  if found_org is not null then perform set_config('app.org', found_org, true); end if;
  return found_org;
end $$;

grant execute on function find_login(text, text), find_invite(text) to strongroom_app, strongroom_worker;

-- A session that was idle for too long is over: the request that is refused for it must not count as use, or the next one would
-- be let in.
create or replace function authenticate_session(hash bytea, at timestamptz) returns jsonb language plpgsql as $$
declare
  s record;
  is_live boolean;
  result jsonb;
begin
  perform set_config('app.token_hash', encode(hash, 'hex'), true);
  select org_id, session_id, user_id, device_installation_id, last_used_at, expires_at, revoked_at into s from session where token_hash = hash;
  if not found then return null; end if;
  is_live := s.revoked_at is null and s.expires_at > at and s.last_used_at > at - interval '30 minutes';
  perform set_config('app.org', s.org_id, true);
  select jsonb_build_object(
    'orgId', s.org_id, 'sessionId', s.session_id, 'deviceInstallationId', s.device_installation_id, 'live', is_live, 'lastUsedAt', s.last_used_at,
    'user', (select jsonb_build_object('userId', user_id, 'tenantId', tenant_id, 'name', name, 'status', status, 'orgRoles', org_roles) from org_user where org_id = s.org_id and user_id = s.user_id),
    'roles', roles_of(s.org_id, null, s.user_id)
  ) into result;
  -- Idle time is counted by the minute: a write on every request would cost more than it tells.
  if is_live and s.last_used_at < at - interval '1 minute' then
    update session set last_used_at = at where org_id = s.org_id and session_id = s.session_id and revoked_at is null;
  end if;
  return result;
end $$;
