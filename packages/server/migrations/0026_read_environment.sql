-- The read that machines do all day, in one round trip: who asks, whether the vault's access list names them, which head, which
-- size of the log and which cosignatures are current, and the audit row, committed with the statement. What is answered is decided from this alone.
--
-- Requests that come together are judged one after the other, each by look-ups of a few rows by their key: one query over all of them
-- would be planned for thousands.

create function read_environments(asks text[]) returns table (key text, "row" jsonb)
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
#variable_conflict use_column
declare
  o text := '';
  ask text;
  a jsonb;
  k jsonb;
  known jsonb;
  log jsonb;
  head jsonb;
  who text;
  kids text[];
begin
  select jsonb_object_agg(f.access_key, f.found) into known
  from authenticate_keys(array(select distinct q::jsonb ->> 'accessKey' from unnest(asks) as q)) as f;
  foreach ask in array asks loop
    a := ask::jsonb;
    k := known -> (a ->> 'accessKey');
    continue when k is null;
    if o <> k ->> 'orgId' then
      o := k ->> 'orgId';
      perform set_config('app.org', o, true);
      select jsonb_build_object('size', size, 'cosigned', cosigned) into log from log_state where org_id = o;
    end if;
    head := null;
    if k ->> 'secretHmac' = a ->> 'secretHmac' and k ->> 'keyStatus' = 'active'
      and coalesce(k -> 'agent' ->> 'status', k -> 'user' ->> 'status') = 'active'
      and coalesce(k -> 'agent' -> 'permissions', k -> 'permissions')
        ?| array['machine.vault.secret.read', 'machine.vault.all', 'machine.all']
    then
      who := coalesce('agent:' || (k -> 'agent' ->> 'agentId'), 'user:' || (k -> 'user' ->> 'userId'));
      select jsonb_build_object('headVersion', v.head_version, 'headHash', v.head_hash) into head
      from vault_access x join vault v on v.org_id = o and v.vault_id = x.vault_id
      where x.org_id = o and x.vault_id = a ->> 'vaultId' and x.principal = who and x.role is not null;
      -- Whoever asks for a key and has been given none is refused, and nothing was read.
      if head is not null and a ->> 'keys' = 'true' then
        kids := array(select state ->> 'kid' from map_state where org_id = o and principal = who and state ->> 'status' = 'active');
        if not exists (
          select from map_state where org_id = o and kid = any(kids) and vault_id = a ->> 'vaultId' and is_live
        ) then head := null; end if;
      end if;
    end if;
    if head is not null then
      insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, request_id, ip, user_agent)
      values (o, a ->> 'eventId', 'vault.environment.read', (a ->> 'at')::timestamptz,
        case when k ->> 'agent' is not null then 'agent' else 'user' end, who,
        jsonb_build_array(jsonb_build_object('type', 'vault', 'id', a ->> 'vaultId')), 'success', a ->> 'requestId', a ->> 'ip',
        a ->> 'userAgent');
    end if;
    key := ask;
    "row" := jsonb_build_object('key', k, 'vault', head || log);
    return next;
  end loop;
end $$;

grant execute on function read_environments(text[]) to strongroom_app;
