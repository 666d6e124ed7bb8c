-- A commit of items in two statements: everything its rules ask for, read under the lock of the log, and everything it leaves,
-- written at once. What is decided in between is the protocol's, not the database's. Both keep their plans: planning them would
-- cost many times what running them does. Every look-up is by a key and compares it with
-- nothing but a value or a list of values, because under row-level security any other condition uses no index; so the plans stay right
-- however large the tables grow.

-- The way of each name in the state map from the root down: what stands on it and what stands beside it. The places of the first
-- levels are looked up at once, since all of them are known from the name; only a deeper way goes on step by step.
create function map_nodes_around(o text, names text[]) returns jsonb
language plpgsql stable set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  levels constant integer := 24;
  ways text[] := array(
    select ('x' || encode(sha256(convert_to(name, 'UTF8')), 'hex'))::bit(256)::text from unnest(names) as n (name));
  places text[] := array(
    select substr(way, 1, depth) from unnest(ways) as w (way) cross join generate_series(0, levels) as depth
    union all
    select substr(way, 1, depth - 1) || translate(substr(way, depth, 1), '01', '10')
    from unnest(ways) as w (way) cross join generate_series(1, levels) as depth);
  ends text[];
  nodes jsonb;
begin
  select coalesce(jsonb_agg(jsonb_build_array(path, encode(hash, 'hex'), encode(leaf_key, 'hex'), encode(leaf_value, 'hex'))), '[]'),
    array_agg(path) filter (where leaf_key is null and length(path) = levels)
    into nodes, ends
  from map_node where org_id = o and path = any(places);
  while ends <> '{}' loop
    places := array(
      select substr(way, 1, length(e) + 1) from unnest(ends) as e join unnest(ways) as way on starts_with(way, e)
      union all
      select e || translate(substr(way, length(e) + 1, 1), '01', '10')
      from unnest(ends) as e join unnest(ways) as way on starts_with(way, e));
    select nodes || coalesce(jsonb_agg(jsonb_build_array(path, encode(hash, 'hex'), encode(leaf_key, 'hex'), encode(leaf_value, 'hex'))), '[]'),
      array_agg(path) filter (where leaf_key is null)
      into nodes, ends
    from map_node where org_id = o and path = any(places);
  end loop;
  return nodes;
end $$;

-- ask: principal, vaultId, headHash (the head the commit follows), kid (who signed it), names and principals (what its documents
-- speak of), items (whose details it follows), known (documents that need not be
-- given again: a document never changes), withContent, logKey. Without a vault the caller may see: only the log. Under another head:
-- only the log and the vault.
create function open_commit(o text, ask jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  log jsonb;
  opened jsonb;
  vault_name text := 'vault/' || (ask ->> 'vaultId');
  chain text[];
  roots text[];
  asked text[];
  found text[];
  vouching text[];
  signers text[] := '{}';
  reached text[];
  named text[];
  states jsonb;
  answer jsonb;
begin
  -- Waits for its turn. Every statement after this one sees what the writer before has left.
  select jsonb_build_object('size', size, 'frontier', frontier, 'mapRoot', map_root, 'origin', origin, 'vkey', vkey,
    'lastAt', last_at, 'restoredAt', restored_at,
    'sealedKey', (select encode(sealed, 'base64') from server_secret where name = ask ->> 'logKey')) into log
  from log_state where org_id = o for update;
  answer := jsonb_build_object('log', log);

  select jsonb_build_object('orgId', o, 'vaultId', v.vault_id, 'role', a.role, 'status', v.status,
      'headVersion', v.head_version, 'headHash', v.head_hash), v.admins_chain
    into opened, chain
  from vault_access a join vault v on v.org_id = o and v.vault_id = a.vault_id
  where a.org_id = o and a.vault_id = ask ->> 'vaultId' and a.principal = ask ->> 'principal' and a.role is not null;
  if opened is null then return answer; end if;
  answer := answer || jsonb_build_object('vault', opened);
  if opened ->> 'headHash' <> ask ->> 'headHash' then return answer; end if;

  -- The documents of the answer, and who vouches for their signers, up to the genesis. Step by step: a recursive query would guess
  -- at millions of rows and make room for them each time.
  roots := array(select doc_hash from log_document where org_id = o and kind in ('org.genesis', 'policy.set'));
  asked := chain || roots || (select state ->> 'aclHash' from map_state where org_id = o and name = vault_name);
  found := array['kid/' || (ask ->> 'kid')] || array(
    select 'kid/' || (s ->> 'keyid') from log_document d cross join lateral jsonb_array_elements(d.envelope -> 'signatures') as s
    where d.org_id = o and d.doc_hash = any(asked));
  loop
    found := array(select distinct name from unnest(found) as f (name) where name <> all(signers));
    exit when found = '{}';
    signers := signers || found;
    select array_agg(state ->> 'rec') || coalesce(array_agg(c ->> 'docHash') filter (where c is not null), '{}') into vouching
    from map_state left join lateral jsonb_array_elements(state -> 'capSets') as c on true
    where org_id = o and name = any(found);
    found := array(
      select 'kid/' || (s ->> 'keyid') from log_document d
      cross join lateral (select * from jsonb_array_elements(d.envelope -> 'signatures') limit 8) as s (s)
      where d.org_id = o and d.doc_hash = any(vouching));
  end loop;

  reached := signers || array(select jsonb_array_elements_text(ask -> 'names')) || array(
    select name from map_state
    where org_id = o and principal = any(array(select jsonb_array_elements_text(ask -> 'principals'))));
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'state', state, 'principal', principal)), '[]') into states
  from map_state where org_id = o and name = any(reached);
  named := asked || array(
    select s -> 'state' ->> member from jsonb_array_elements(states) as s
    cross join unnest(array['rec', 'policyHash', 'adminsHash', 'aclHash', 'headHash']) as member
  ) || array(
    select c ->> 'docHash' from jsonb_array_elements(states) as s cross join lateral jsonb_array_elements(
      case when s -> 'state' ? 'capSets' then s -> 'state' -> 'capSets' else '[]' end) as c
  );
  named := array(select unnest(named) except select jsonb_array_elements_text(ask -> 'known'));

  answer := answer || jsonb_build_object(
    'adminsChain', chain, 'signers', signers, 'states', states,
    'nodes', map_nodes_around(o, array['policy', vault_name] || signers),
    'documents', (
      select coalesce(jsonb_agg(jsonb_build_object('hash', doc_hash, 'kind', kind, 'envelope', envelope)), '[]')
      from log_document where org_id = o and doc_hash = any(named)),
    'details', (
      select coalesce(jsonb_object_agg(item_id, detail), '{}') from vault_item
      where org_id = o and vault_id = ask ->> 'vaultId'
        and item_id = any(array(select jsonb_array_elements_text(ask -> 'items')))));
  if (ask ->> 'withContent')::boolean then
    answer := answer || jsonb_build_object('content', (
      select jsonb_build_object(
        'items', coalesce((select jsonb_agg(jsonb_build_object('itemId', item_id, 'itemVersion', item_version, 'name', name,
            'website', website, 'status', status, 'fieldCount', field_count, 'detailHash', detail_hash))
          from vault_item where org_id = o and vault_id = ask ->> 'vaultId'), '[]'),
        'env', coalesce((select jsonb_agg(jsonb_build_object('ct', f.ct, 'dekVersion', f.dek_version, 'fieldId', f.field_id,
            'itemId', f.item_id, 'label', f.label, 'rev', f.rev))
          from vault_field f join vault_item i using (org_id, vault_id, item_id)
          where f.org_id = o and f.vault_id = ask ->> 'vaultId' and f.env and i.status = 'active'), '[]'),
        'assets', coalesce((select jsonb_agg(jsonb_build_object('assetId', asset_id, 'assetVersion', asset_version,
            'docHash', doc_hash, 'itemId', item_id, 'status', status))
          from vault_asset where org_id = o and vault_id = ask ->> 'vaultId'), '[]'))));
  end if;
  return answer;
end $$;

-- The leaf with its subtrees, its document, the state and the paths it changed, its checkpoint; the vault, its items and fields; the
-- audit row and the feed. Gives the vault as it is now, and how many fields were written: a field of another item is nobody's to take.
create function write_commit(o text, w jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  i bigint := (w ->> 'index')::bigint;
  vault_of text := w ->> 'vaultId';
  version bigint := (w ->> 'headVersion')::bigint;
  now_at timestamptz := (w ->> 'now')::timestamptz;
  written integer;
  after jsonb;
begin
  insert into log_leaf (org_id, leaf_index, size, leaf) values (o, i, i + 1, decode(w ->> 'leaf', 'base64'));
  insert into log_node (org_id, level, node_index, hash)
  select o, (n ->> 0)::integer, (n ->> 1)::bigint, decode(n ->> 2, 'hex') from jsonb_array_elements(w -> 'tree') as n;
  insert into log_document (org_id, doc_hash, kind, envelope) values (o, w ->> 'headHash', 'vault-head', w -> 'head')
  on conflict (org_id, doc_hash) do nothing;
  update map_state set state = w -> 'state' where org_id = o and name = 'vault/' || vault_of;
  insert into map_node (org_id, path, hash, leaf_key, leaf_value)
  select o, n ->> 0, decode(n ->> 1, 'hex'), decode(n ->> 2, 'hex'), decode(n ->> 3, 'hex')
  from jsonb_array_elements(w -> 'paths') as n
  on conflict (org_id, path) do update
  set hash = excluded.hash, leaf_key = excluded.leaf_key, leaf_value = excluded.leaf_value;
  insert into log_checkpoint (org_id, size, leaf_index, note, created_at)
  values (o, i + 1, i, w ->> 'note', to_timestamp((w ->> 'at')::double precision / 1000));
  update log_state set size = i + 1, frontier = array(select jsonb_array_elements_text(w -> 'frontier')),
    map_root = w ->> 'mapRoot', last_at = (w ->> 'at')::bigint, note = w ->> 'note', cosignatures = ''
  where org_id = o;

  insert into vault_item (org_id, vault_id, item_id, item_version, name, website, status, field_count, detail_hash, detail,
    head_version, changed_index, created_at, updated_at)
  select o, vault_of, r ->> 'itemId', (r ->> 'itemVersion')::bigint, r ->> 'name', r ->> 'website', r ->> 'status',
    (r ->> 'fieldCount')::integer, r ->> 'detailHash', r -> 'detail', version, i, now_at, now_at
  from jsonb_array_elements(w -> 'items') as r
  on conflict (org_id, vault_id, item_id) do update set item_version = excluded.item_version, name = excluded.name,
    website = excluded.website, status = excluded.status, field_count = excluded.field_count,
    detail_hash = excluded.detail_hash, detail = excluded.detail, head_version = excluded.head_version,
    changed_index = excluded.changed_index, updated_at = excluded.updated_at;
  delete from vault_field where org_id = o and vault_id = vault_of
    and item_id = any(array(select r ->> 'itemId' from jsonb_array_elements(w -> 'items') as r))
    and field_id <> all(array(select jsonb_array_elements_text(w -> 'fieldIds')));
  insert into vault_field (org_id, vault_id, item_id, field_id, label, env, ct, dek_version, rev, value)
  select o, vault_of, r ->> 'itemId', r ->> 'fieldId', r ->> 'label', (r ->> 'env')::boolean, r ->> 'ct',
    (r ->> 'dekVersion')::bigint, (r ->> 'rev')::bigint, r ->> 'value'
  from jsonb_array_elements(w -> 'fields') as r
  on conflict (org_id, vault_id, field_id) do update set label = excluded.label, env = excluded.env, ct = excluded.ct,
    dek_version = excluded.dek_version, rev = excluded.rev, value = excluded.value
  where vault_field.item_id = excluded.item_id;
  get diagnostics written = row_count;

  update vault set name = w -> 'meta' ->> 'name', classification = w -> 'meta' ->> 'classification',
    status = w -> 'meta' ->> 'status', head_version = version, head_hash = w ->> 'headHash', head_index = i,
    item_count = (w ->> 'itemCount')::integer, rotation_due = (w ->> 'rotationDue')::timestamptz, updated_at = now_at
  where org_id = o and vault_id = vault_of
  returning jsonb_build_object('vaultId', vault_id, 'tenantId', tenant_id, 'name', name, 'classification', classification,
    'status', status, 'itemCount', item_count, 'headVersion', head_version, 'rotationDue', rotation_due,
    'createdBy', created_by, 'createdAt', created_at, 'updatedAt', updated_at) into after;

  insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, error_code, request_id,
    ip, user_agent, metadata)
  select o, e ->> 'event_id', e ->> 'action', (e ->> 'occurred_at')::timestamptz, e ->> 'actor_type', e ->> 'actor_id',
    (e ->> 'targets')::jsonb, e ->> 'outcome', e ->> 'error_code', e ->> 'request_id', e ->> 'ip', e ->> 'user_agent',
    (e ->> 'metadata')::jsonb
  from (select w -> 'audit') as event (e);
  -- Numbers of the feed become visible in their order.
  perform pg_advisory_xact_lock((w ->> 'feedLock')::integer, hashtext(o));
  insert into vault_activity_event (org_id, event_id, vault_id, action, actor, subject, occurred_at, request_id)
  select o, e ->> 'event_id', e ->> 'vault_id', e ->> 'action', e ->> 'actor', e ->> 'subject',
    (e ->> 'occurred_at')::timestamptz, e ->> 'request_id'
  from (select w -> 'activity') as event (e);
  return jsonb_build_object('vault', after, 'fields', written);
end $$;

-- Names the organisation of the transaction and claims an idempotency key in it; what is stored under the key if it was claimed before.
create function claim_request(o text, who text, k bytea, r bytea, at timestamptz) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' as $$
begin
  perform set_config('app.org', o, true);
  insert into idempotency (org_id, principal, key_hash, request_hash, created_at) values (o, who, k, r, at) on conflict do nothing;
  if found then return null; end if;
  return (
    select jsonb_build_object('requestHash', encode(request_hash, 'hex'), 'body', body) from idempotency
    where org_id = o and principal = who and key_hash = k);
end $$;

grant execute on function claim_request(text, text, bytea, bytea, timestamptz) to strongroom_app;
grant execute on function map_nodes_around(text, text[]) to strongroom_app;
grant execute on function open_commit(text, jsonb) to strongroom_app;
grant execute on function write_commit(text, jsonb) to strongroom_app;

-- The queue of the sealer is written by the insert of the event itself, and events are never deleted: there is nothing to check. While the
-- tables were still small when a connection planned it, the check read every event of the organisation.
alter table audit_unsealed drop constraint audit_unsealed_org_id_event_id_fkey, drop constraint audit_unsealed_org_id_fkey;
