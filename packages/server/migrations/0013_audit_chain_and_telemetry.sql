-- The audit chain: what is committed and not sealed yet, and where each organisation's chain ends.

-- One row per audit event until it is sealed, made by the insert of the event itself: nobody can record without queueing.
-- It is a queue and no record, so the sealer may delete from it; audit_event and audit_seal stay append-only.
create table audit_unsealed (
  org_id    text not null references org,
  seq       bigint not null,
  event_id  text not null,
  queued_at timestamptz not null default clock_timestamp(),
  primary key (org_id, seq),
  foreign key (org_id, event_id) references audit_event (org_id, event_id)
);

create function queue_for_sealing() returns trigger language plpgsql as $$
begin
  insert into strongroom.audit_unsealed (org_id, seq, event_id) values (new.org_id, new.seq, new.event_id);
  return null;
end $$;
create trigger queue_for_sealing after insert on audit_event for each row execute function queue_for_sealing();

-- Where the chain of an organisation ends. Its row is the lock of the one sealer that works on it, and a chain whose end was
-- cut off does not reach it any more.
create table audit_head (
  org_id   text not null references org,
  position bigint not null check (position >= 0),
  hash     bytea not null check (length(hash) = 32),
  primary key (org_id)
);

create index audit_event_of_actor on audit_event (org_id, actor_id, occurred_at desc, event_id desc);

alter table audit_unsealed enable row level security;
alter table audit_unsealed force row level security;
create policy own_org on audit_unsealed using (org_id = current_org()) with check (org_id = current_org());
-- Which organisations have something to seal.
create policy sealer_sees on audit_unsealed for select to strongroom_worker using (true);
alter table audit_head enable row level security;
alter table audit_head force row level security;
create policy own_org on audit_head using (org_id = current_org()) with check (org_id = current_org());

grant insert, select on audit_unsealed to strongroom_app;
grant insert, select, delete on audit_unsealed to strongroom_worker;
grant select on audit_head to strongroom_app;
grant select, insert, update on audit_head to strongroom_worker;
-- Only the sealer seals.
revoke insert on audit_seal from strongroom_app;

-- Telemetry is written for all organisations in one batch, by the worker alone, and removed by it when it is old.
create policy worker_writes on request_event to strongroom_worker using (true) with check (true);
create policy worker_writes on metric_minute to strongroom_worker using (true) with check (true);
revoke insert on request_event, metric_minute from strongroom_app;
create index request_event_age on request_event (occurred_at);
create index metric_minute_age on metric_minute (minute);

-- Histograms of the same buckets add up, bucket by bucket.
create function add_buckets(a bigint[], b bigint[]) returns bigint[] language sql immutable parallel safe as $$
  select coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) order by i), '{}') from unnest(a, b) with ordinality as pair(x, y, i)
$$;
create aggregate sum_buckets(bigint[]) (sfunc = add_buckets, stype = bigint[], initcond = '{}', parallel = safe);

-- The session store as a whole, for the operator: counts and nothing else. Every organisation is named in turn.
create function session_stats(at timestamptz) returns jsonb language plpgsql as $$
declare
  o text;
  sums bigint[] := '{}';
begin
  perform set_config('app.operator', 'yes', true);
  for o in select org_id from org order by org_id loop
    perform set_config('app.org', o, true);
    sums := add_buckets(sums, (
      select array[
        count(*) filter (where live), count(distinct user_id) filter (where live),
        count(*) filter (where live and age < interval '5 minutes'),
        count(*) filter (where live and age >= interval '5 minutes' and age < interval '1 hour'),
        count(*) filter (where live and age >= interval '1 hour' and age < interval '4 hours'),
        count(*) filter (where live and age >= interval '4 hours'),
        count(*) filter (where revoked_at > at - interval '24 hours')
      ]
      from (
        select user_id, revoked_at, at - created_at as age, revoked_at is null and expires_at > at and last_used_at > at - interval '30 minutes' as live
        from session where org_id = o
      ) as s));
  end loop;
  perform set_config('app.org', '', true);
  perform set_config('app.operator', '', true);
  return jsonb_build_object(
    'active', coalesce(sums[1], 0), 'users', coalesce(sums[2], 0), 'under5Minutes', coalesce(sums[3], 0), 'under1Hour', coalesce(sums[4], 0),
    'under4Hours', coalesce(sums[5], 0), 'older', coalesce(sums[6], 0), 'revokedLastDay', coalesce(sums[7], 0));
end $$;

grant execute on function queue_for_sealing(), add_buckets(bigint[], bigint[]), sum_buckets(bigint[]), session_stats(timestamptz) to strongroom_app, strongroom_worker;
