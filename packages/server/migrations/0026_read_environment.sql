-- The read that machines do all day, in one round trip: who asks, whether the vault's access list names them, which head, which
-- size of the log and which cosignatures are current, and the audit row, committed with the statement. What is answered is decided from this alone.
--
-- Requests that come together are judged together, organisation by organisation, and each look-up goes by a key: without hashes, merges and
-- scans of whole tables there is no other plan, however large the tables grow.

-- A row for each question of a known key, under the id of its audit event: the head and the log, if the vault may be read, and in a second
-- line what is known of the key.
create function read_environments(asks jsonb) returns table (key text, "row" text)
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
grant execute on function read_environments(jsonb) to strongroom_app;
