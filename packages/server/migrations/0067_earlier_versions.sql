-- What an item was before it was written again: its signed detail, and the ciphertexts that the next version no longer has. Written in the
-- transaction of the commit that replaces them. An item that leaves its vault takes none of it along.

create table vault_item_former (
  org_id       text not null,
  vault_id     text not null,
  item_id      text not null,
  item_version bigint not null check (item_version > 0),
  detail       jsonb not null,
  primary key (org_id, vault_id, item_id, item_version),
  foreign key (org_id, vault_id, item_id) references vault_item (org_id, vault_id, item_id) on delete cascade
);

-- A value stands here once, however many versions had it: a detail names its ciphertexts by their hashes.
create table vault_field_former (
  org_id       text not null,
  vault_id     text not null,
  item_id      text not null,
  field_id     text not null,
  ct           text not null,
  dek_version  bigint not null,
  -- The last version of the item that had it.
  last_version bigint not null,
  value        text not null,
  primary key (org_id, vault_id, item_id, field_id, ct),
  foreign key (org_id, vault_id, item_id) references vault_item (org_id, vault_id, item_id) on delete cascade
);

do $$
declare
  t text;
begin
  foreach t in array array['vault_item_former', 'vault_field_former'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    -- As in 0064.
    if to_regproc('pg_catalog.pg_restore_attribute_stats') is not null then
      perform pg_restore_attribute_stats('schemaname', 'strongroom', 'relname', t, 'attname', 'org_id', 'inherited', false,
        'null_frac', 0::real, 'avg_width', 27, 'n_distinct', 1::real);
    end if;
  end loop;
end $$;

-- Called while the tables still have what is about to be replaced. items are those that are there already; fields are all that their next
-- versions have, and written those of them that come with a value. Of each item the newest so many versions stay.
create function keep_former_versions(o text, v text, items text[], fields text[], written text[], most integer) returns void
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
begin
  insert into vault_item_former (org_id, vault_id, item_id, item_version, detail)
  select o, v, item_id, item_version, detail from vault_item
  where org_id = o and vault_id = v and item_id = any(items);
  insert into vault_field_former (org_id, vault_id, item_id, field_id, ct, dek_version, last_version, value)
  select o, v, f.item_id, f.field_id, f.ct, f.dek_version, i.item_version, f.value
  from vault_field f join vault_item i on i.org_id = o and i.vault_id = v and i.item_id = f.item_id
  where f.org_id = o and f.vault_id = v and f.item_id = any(items)
    and (f.field_id = any(written) or f.field_id <> all(fields))
  -- A field that was taken out and put back as it was.
  on conflict (org_id, vault_id, item_id, field_id, ct) do update set last_version = excluded.last_version;
  delete from vault_field_former f using vault_item i
  where f.org_id = o and f.vault_id = v and f.item_id = any(items)
    and i.org_id = o and i.vault_id = v and i.item_id = f.item_id and f.last_version <= i.item_version - most;
  delete from vault_item_former f using vault_item i
  where f.org_id = o and f.vault_id = v and f.item_id = any(items)
    and i.org_id = o and i.vault_id = v and i.item_id = f.item_id and f.item_version <= i.item_version - most;
end $$;

-- What 0028 writes, with what it writes over kept first. w has besides: formerItems, and keptVersions.
create function write_next_versions(o text, w jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
begin
  if w -> 'formerItems' <> '[]' then
    perform keep_former_versions(o, w ->> 'vaultId', array(select jsonb_array_elements_text(w -> 'formerItems')),
      array(select jsonb_array_elements_text(w -> 'fieldIds')),
      array(select f ->> 'fieldId' from jsonb_array_elements(w -> 'fields') as f), (w ->> 'keptVersions')::integer);
  end if;
  return write_commit(o, w);
end $$;

-- As in 0050, but for that.
create or replace function write_commits(o text, w jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  one jsonb;
  written jsonb[] := '{}';
begin
  for one in select c from jsonb_array_elements(w -> 'commits') as c loop
    written := written || write_next_versions(o, one);
  end loop;
  for one in select a from jsonb_array_elements(w -> 'answers') as a loop
    update idempotency set status = (one ->> 'status')::integer, body = one -> 'body'
    where org_id = o and principal = one ->> 'principal' and key_hash = decode(one ->> 'keyHash', 'hex');
  end loop;
  -- Whoever goes alone afterwards claims the key again.
  for one in select u from jsonb_array_elements(w -> 'unclaimed') as u loop
    delete from idempotency where org_id = o and principal = one ->> 'principal' and key_hash = decode(one ->> 'keyHash', 'hex');
  end loop;
  return to_jsonb(written);
end $$;

grant execute on function keep_former_versions(text, text, text[], text[], text[], integer) to strongroom_app;
grant execute on function write_next_versions(text, jsonb) to strongroom_app;
