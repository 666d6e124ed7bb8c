-- Several commits of items in one transaction: each is opened and written by the functions of 0028, one after the other in the order of
-- their leaves. Keys of idempotency are claimed before the lock of the log is taken, as by a commit that comes alone, and in one order.
create function open_commits(o text, asks jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  ask jsonb;
  claimed text[];
  views jsonb[] := '{}';
begin
  perform set_config('app.org', o, true);
  with claim as (
    insert into idempotency (org_id, principal, key_hash, request_hash, created_at)
    select o, a ->> 'principal', decode(a -> 'claim' ->> 'keyHash', 'hex'), decode(a -> 'claim' ->> 'requestHash', 'hex'),
      (a -> 'claim' ->> 'at')::timestamptz
    from jsonb_array_elements(asks) as a where a -> 'claim' <> 'null'
    order by a ->> 'principal', a -> 'claim' ->> 'keyHash'
    on conflict do nothing returning principal, key_hash)
  select array_agg(principal || ' ' || encode(key_hash, 'hex')) into claimed from claim;
  for ask in select a from jsonb_array_elements(asks) as a loop
    if ask -> 'claim' = 'null' or (ask ->> 'principal') || ' ' || (ask -> 'claim' ->> 'keyHash') = any(claimed) then
      views := views || open_commit(o, ask);
    else
      views := views || 'null'::jsonb;
    end if;
  end loop;
  return to_jsonb(views);
end $$;

create function write_commits(o text, w jsonb) returns jsonb
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  one jsonb;
  written jsonb[] := '{}';
begin
  for one in select c from jsonb_array_elements(w -> 'commits') as c loop
    written := written || write_commit(o, one);
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

grant execute on function open_commits(text, jsonb) to strongroom_app;
grant execute on function write_commits(text, jsonb) to strongroom_app;
