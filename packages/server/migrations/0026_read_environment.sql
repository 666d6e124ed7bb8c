-- The read that machines do all day, in one round trip: who asks, whether the vault's access list names them, which head, which
-- size of the log and which cosignatures are current, and the audit row, committed with the statement. What is answered is decided from this alone.

create function read_environments(asks text[]) returns table (key text, "row" jsonb)
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

grant execute on function read_environments(text[]) to strongroom_app;
