-- What the background does behind every request, for all organisations in few statements: with a transaction of several statements for each
-- organisation it cost the process more than the requests did. All of these keep their plans.

-- Gives the events of organisations in which nobody listens their places in the stream, of the oldest so many. heard are those in which
-- somebody does: they are fanned out one by one. Whether somebody listens is looked at after the events were: who began to listen before an
-- event is told of it. What somebody else has placed in the meantime is left as it is.
create function place_unheard(at timestamptz, most integer) returns table (heard text[], is_more boolean)
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  o text;
  waiting text[];
  spots tid[];
  head bigint;
  looked_at integer := 0;
begin
  heard := array(
    select f.org_id from webhook_feed f
    where exists (select 1 from vault_activity_event v where v.org_id = f.org_id and v.seq > f.seq));
  for o, waiting, spots in
    select w.org_id, array_agg(w.event_id order by w.seq), array_agg(w.ctid)
    from (select e.org_id, e.event_id, e.seq, e.ctid from outbox_event e where e.fanned_out_at is null order by e.seq limit most) w
    group by w.org_id order by w.org_id
  loop
    looked_at := looked_at + cardinality(waiting);
    continue when o = any(heard);
    select h.feed_seq into head from outbox_head h where h.org_id = o for update skip locked;
    -- A head that is not there yet or that somebody holds is the business of the ordinary way.
    if not found
      or exists (select 1 from webhook_endpoint p where p.org_id = o and p.status = 'active')
      or exists (select 1 from webhook_feed f where f.org_id = o)
    then
      heard := heard || o;
      continue;
    end if;
    -- By where they are: a plan that was made while the table was empty would look for them among all events.
    update outbox_event e set fanned_out_at = at, feed_seq = head + array_position(waiting, e.event_id)
      where e.ctid = any(spots) and e.fanned_out_at is null;
    update outbox_head h set feed_seq = head + cardinality(waiting) where h.org_id = o;
  end loop;
  is_more := looked_at = most;
  return next;
end $$;

-- The ends of several chains, locked, and what waits behind each, at most so much. A chain without an end yet and one that another sealer
-- has give nothing.
create function take_unsealed(orgs text[], most integer) returns table (
  org_id text, head_position bigint, head_hash bytea, seq bigint, id text, action text, "occurredAt" text, "actorType" text,
  "actorId" text, targets text, outcome text, "errorCode" text, "requestId" text, ip text, "userAgent" text, metadata text)
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  o text;
  head audit_head;
begin
  foreach o in array orgs loop
    perform set_config('app.org', o, true);
    select * into head from audit_head h where h.org_id = o for update skip locked;
    continue when not found;
    return query
      select o, head.position, head.hash, u.seq, e.event_id, e.action,
        to_char(e.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.actor_type, e.actor_id, e.targets::text, e.outcome,
        e.error_code, e.request_id, e.ip, e.user_agent, e.metadata::text
      from (select q.seq, q.event_id from audit_unsealed q where q.org_id = o order by q.seq limit most) u
      -- One by one, whatever the plan thinks of how many there are.
      cross join lateral (select * from audit_event a where a.org_id = o and a.event_id = u.event_id offset 0) e
      order by u.seq;
  end loop;
end $$;

-- Appends to several chains what was taken for them. batches: orgId, position (of the head), hashes (of the head and each event, one after
-- the other, in hex), eventIds and seqs.
create function append_seals(batches jsonb, at timestamptz) returns void
language plpgsql volatile set plan_cache_mode = 'force_generic_plan' set enable_seqscan = off as $$
declare
  b jsonb;
  o text;
  hashes bytea;
  count_ integer;
begin
  for b in select value from jsonb_array_elements(batches) loop
    o := b ->> 'orgId';
    hashes := decode(b ->> 'hashes', 'hex');
    count_ := jsonb_array_length(b -> 'eventIds');
    perform set_config('app.org', o, true);
    insert into audit_seal (org_id, position, event_id, prev_hash, hash, sealed_at)
      select o, (b ->> 'position')::bigint + n, event_id, substr(hashes, (n::integer - 1) * 32 + 1, 32),
        substr(hashes, n::integer * 32 + 1, 32), at
      from jsonb_array_elements_text(b -> 'eventIds') with ordinality as e (event_id, n);
    delete from audit_unsealed where org_id = o and seq = any(array(select s::bigint from jsonb_array_elements_text(b -> 'seqs') as s));
    update audit_head set position = position + count_, hash = substr(hashes, count_ * 32 + 1, 32) where org_id = o;
  end loop;
end $$;

grant execute on function place_unheard(timestamptz, integer), take_unsealed(text[], integer), append_seals(jsonb, timestamptz)
  to strongroom_worker;
