-- Cosignatures of witnesses and auditors (docs/protocol.md 5.5). Only keys that the organisation has registered are kept, and only
-- what verifies: a bad line by a key that a client knows would make it refuse an honest checkpoint.

create table log_witness (
  org_id     text not null references org (org_id),
  vkey       text not null,
  created_at timestamptz not null,
  primary key (org_id, vkey)
);

-- signed_at is in seconds, as cosignatures count; of one key and size the newest is kept.
create table log_cosignature (
  org_id    text not null,
  size      bigint not null,
  vkey      text not null,
  line      text not null,
  signed_at bigint not null check (signed_at >= 0),
  primary key (org_id, size, vkey),
  foreign key (org_id, size) references log_checkpoint (org_id, size)
);

-- The lines for the newest checkpoint, beside it: who reads the one has the other. `cosigned` counts their changes, for those who
-- keep answers.
alter table log_state
  add column cosignatures text not null default '',
  add column cosigned     bigint not null default 0;

do $$
declare
  t text;
begin
  foreach t in array array['log_witness', 'log_cosignature'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    execute format('grant select on %I to strongroom_worker', t);
  end loop;
end $$;
revoke update on log_witness from strongroom_app;
revoke delete on log_cosignature from strongroom_app;

-- As before, and with it the count of cosignatures: the bytes of an answer are reused while that stands still as well.
create or replace function read_environments(asks text[]) returns table (key text, "row" jsonb)
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' as $$
declare
  o text;
  named text;
  known jsonb;
begin
  -- Keys of requests that came together; each is judged on its own.
  select jsonb_object_agg(a.access_key, a.found) into known
  from authenticate_keys(array(select distinct ask::jsonb ->> 'accessKey' from unnest(asks) as ask)) as a;
  for o in select distinct value ->> 'orgId' from jsonb_each(coalesce(known, '{}')) loop
    named := set_config('app.org', o, true);
    return query
      with asked as materialized (
        select ask, ask::jsonb as a, known -> (ask::jsonb ->> 'accessKey') as k from unnest(asks) as ask
        where known -> (ask::jsonb ->> 'accessKey') ->> 'orgId' = o
      ), genuine as materialized (
        select ask, a, k,
          case when k ->> 'agent' is not null then 'agent' else 'user' end as type,
          coalesce('agent:' || (k -> 'agent' ->> 'agentId'), 'user:' || (k -> 'user' ->> 'userId')) as principal
        from asked
        where k ->> 'secretHmac' = a ->> 'secretHmac' and k ->> 'keyStatus' = 'active'
          and coalesce(k -> 'agent' ->> 'status', k -> 'user' ->> 'status') = 'active'
          and coalesce(k -> 'agent' -> 'permissions', k -> 'permissions')
            ?| array['machine.vault.secret.read', 'machine.vault.all', 'machine.all']
      ), opened as materialized (
        select g.*, v.vault_id, v.head_version, v.head_hash from genuine g
        cross join lateral (
          select va.vault_id from vault_access va
          where va.org_id = o and va.vault_id = g.a ->> 'vaultId' and va.principal = g.principal and va.role is not null offset 0
        ) as listed
        cross join lateral (
          select vault_id, head_version, head_hash from vault where org_id = o and vault_id = listed.vault_id offset 0
        ) as v
        -- Whoever asks for a key and has been given none is refused, and nothing was read.
        where a ->> 'keys' = 'false' or exists (
          select from map_state own join map_state given on given.org_id = o and given.vault_id = v.vault_id and given.is_live
            and given.kid = own.state ->> 'kid'
          where own.org_id = o and own.principal = g.principal and own.state ->> 'status' = 'active')
      ), audited as (
        insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, request_id, ip, user_agent)
        select o, a ->> 'eventId', 'vault.environment.read', (a ->> 'at')::timestamptz, type, principal,
          jsonb_build_array(jsonb_build_object('type', 'vault', 'id', vault_id)), 'success', a ->> 'requestId', a ->> 'ip', a ->> 'userAgent'
        from opened
      )
      select q.ask, jsonb_build_object('key', q.k, 'vault', (
        select jsonb_build_object('headVersion', p.head_version, 'headHash', p.head_hash,
          'size', l.size, 'cosigned', l.cosigned)
        from opened p cross join (select size, cosigned from log_state where org_id = o) as l where p.ask = q.ask))
      from asked q;
  end loop;
end $$;
