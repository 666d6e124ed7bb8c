-- Endpoints that others are told at, one delivery for each event and endpoint, and every attempt of it. Nothing of an answer is kept but
-- its status, and nothing of where a name led.

create table webhook_endpoint (
  org_id           text not null references org (org_id),
  endpoint_id      text not null,
  -- Whose it is, and by which key; no key for a person who was logged in.
  principal        text not null,
  key_id           text,
  tenant_id        text,
  url              text not null,
  description      text not null,
  event_types      text[] not null,
  signing          text not null check (signing in ('hmac', 'ed25519')),
  -- Sealed; of the organisation where it signs with its own key.
  secret           bytea,
  old_secret       bytea,
  old_secret_until timestamptz,
  status           text not null default 'active' check (status in ('active', 'disabled')),
  disabled_reason  text check (disabled_reason in ('manual', 'gone', 'failing', 'key_ended')),
  disabled_at      timestamptz,
  -- Since when nothing but failures.
  failing_since    timestamptz,
  throttled_until  timestamptz,
  created_at       timestamptz not null,
  primary key (org_id, endpoint_id),
  check ((status = 'disabled') = (disabled_reason is not null and disabled_at is not null)),
  check ((signing = 'hmac') = (secret is not null))
);
create index webhook_endpoint_owner on webhook_endpoint (org_id, principal);

-- With which an organisation signs for those who want to hold no secret.
create table webhook_signing_key (
  org_id     text not null references org (org_id),
  public_key bytea not null,
  sealed     bytea not null,
  created_at timestamptz not null,
  primary key (org_id)
);

create table webhook_delivery (
  org_id      text not null,
  delivery_id text not null,
  endpoint_id text not null,
  event_id    text not null,
  type        text not null,
  -- Of a synthetic event, which is in no outbox.
  body        text,
  synthetic   boolean not null default false,
  state       text not null default 'pending'
    check (state in ('pending', 'delivering', 'retrying', 'delivered', 'exhausted', 'discarded')),
  -- When it is somebody's turn to try: the next attempt, or the end of the lease of the one under way.
  due_at      timestamptz,
  -- How often it was claimed: the number of the attempt, and who may say how it ended.
  claims      integer not null default 0,
  -- Place in the schedule.
  step        integer not null default 0,
  created_at  timestamptz not null,
  finished_at timestamptz,
  primary key (org_id, delivery_id),
  unique (org_id, endpoint_id, event_id),
  foreign key (org_id, endpoint_id) references webhook_endpoint (org_id, endpoint_id) on delete cascade,
  check ((due_at is null) = (state in ('delivered', 'exhausted', 'discarded')))
);
create index webhook_due on webhook_delivery (org_id, endpoint_id, due_at) where due_at is not null;
create index webhook_under_way on webhook_delivery (org_id, endpoint_id, due_at) where state = 'delivering';
create index webhook_of_event on webhook_delivery (org_id, event_id);
create index webhook_finished on webhook_delivery (finished_at) where finished_at is not null;
create index webhook_history on webhook_delivery (org_id, endpoint_id, created_at desc, delivery_id desc);

-- Written before anything is sent, and completed once: an attempt without an end is one nobody knows the end of.
create table webhook_attempt (
  org_id          text not null,
  delivery_id     text not null,
  attempt         integer not null,
  started_at      timestamptz not null,
  duration_ms     integer,
  url             text not null,
  response_status integer,
  error           text,
  primary key (org_id, delivery_id, attempt),
  foreign key (org_id, delivery_id) references webhook_delivery (org_id, delivery_id) on delete cascade
);

-- How far the feed of vault changes has been told. There only while somebody listens.
create table webhook_feed (
  org_id text not null references org (org_id),
  seq    bigint not null,
  primary key (org_id)
);

do $$
declare
  t text;
begin
  foreach t in array array['webhook_endpoint', 'webhook_signing_key', 'webhook_delivery', 'webhook_attempt', 'webhook_feed'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app, strongroom_worker', t);
  end loop;
end $$;
-- To see where something waits, of whatever organisation.
create policy worker_looks on vault_activity_event for select to strongroom_worker using (true);
revoke update, delete on webhook_signing_key from strongroom_app, strongroom_worker;

-- The place of an event in the stream, given under the lock of its head when it is fanned out: whoever follows behind a number never misses a smaller one
-- that commits later. `seq` is drawn before, in whatever order transactions end.
create table outbox_head (
  org_id   text not null references org (org_id),
  feed_seq bigint not null,
  primary key (org_id)
);
alter table outbox_head enable row level security;
alter table outbox_head force row level security;
create policy own_org on outbox_head using (org_id = current_org()) with check (org_id = current_org());
create policy worker_works on outbox_head to strongroom_worker using (true) with check (true);
grant select on outbox_head to strongroom_app;
grant select, insert, update on outbox_head to strongroom_worker;
alter table outbox_event add column feed_seq bigint;
create index outbox_stream on outbox_event (org_id, feed_seq) where feed_seq is not null;
create index outbox_age on outbox_event (occurred_at) where fanned_out_at is not null;
grant update (feed_seq) on outbox_event to strongroom_worker;

-- Endpoints with something still to be told, by skipping from one to the next: as many looks as there are such endpoints, however much waits
-- for one of them.
create function webhook_endpoints_waiting(at timestamptz) returns table (org_id text, endpoint_id text, failing boolean)
language sql stable as $$
  with recursive endpoint (org_id, endpoint_id) as (
    (select d.org_id, d.endpoint_id from webhook_delivery d where d.due_at is not null order by d.org_id, d.endpoint_id limit 1)
    union all
    select n.org_id, n.endpoint_id from endpoint e
    cross join lateral (
      select d.org_id, d.endpoint_id from webhook_delivery d
      where d.due_at is not null and (d.org_id, d.endpoint_id) > (e.org_id, e.endpoint_id)
      order by d.org_id, d.endpoint_id limit 1) n)
  select e.org_id, e.endpoint_id, coalesce(w.failing_since <= at - interval '1 minute', false)
  from endpoint e join webhook_endpoint w using (org_id, endpoint_id)
  where w.status = 'active' and (w.throttled_until is null or w.throttled_until <= at)
    and exists (
      select 1 from webhook_delivery d
      where d.org_id = e.org_id and d.endpoint_id = e.endpoint_id and d.due_at is not null and d.due_at <= at)
$$;

-- Takes what is due at some endpoints: no more at once than each may have under way, fewer where nothing has arrived for a minute, and nothing that another process
-- has. What is taken is this caller's until its lease ends.
create function webhook_claim(book text, endpoints text[], at timestamptz, until timestamptz, many integer, few integer, free integer)
returns setof webhook_delivery language sql as $$
  with room as (
    select w.endpoint_id, case when w.failing_since <= at - interval '1 minute' then few else many end - (
      select count(*) from webhook_delivery d
      where d.org_id = book and d.endpoint_id = w.endpoint_id and d.state = 'delivering' and d.due_at > at) as places
    from webhook_endpoint w
    where w.org_id = book and w.endpoint_id = any(endpoints) and w.status = 'active'
      and (w.throttled_until is null or w.throttled_until <= at)
    for no key update skip locked
  ), chosen as (
    select c.delivery_id from room cross join lateral (
      select d.delivery_id from webhook_delivery d
      where d.org_id = book and d.endpoint_id = room.endpoint_id and d.due_at is not null and d.due_at <= at
      order by d.due_at limit greatest(room.places, 0) for update skip locked) c
    limit free
  )
  update webhook_delivery d set state = 'delivering', due_at = until, claims = d.claims + 1
  from chosen where d.org_id = book and d.delivery_id = chosen.delivery_id
  returning d.*
$$;

-- What the owners of endpoints may do now. A row for each that is asked for; `active` is false where the key ended or its holder is gone.
create function webhook_owners(book text, principals text[], keys text[])
returns table (principal text, key_id text, active boolean, permissions text[], org_roles text[], tenant_id text, roles jsonb)
language sql stable as $$
  select o.principal, o.key_id,
    (o.key_id is null or k.status = 'active') and case split_part(o.principal, ':', 1)
      when 'agent' then coalesce(a.status = 'active' and k.agent_id = a.agent_id, false)
      when 'user' then coalesce(u.status = 'active' and (o.key_id is null or k.user_id = u.user_id), false)
      else coalesce(k.global_admin, false) end,
    case split_part(o.principal, ':', 1)
      when 'agent' then a.permissions when 'user' then case when o.key_id is null then null else k.permissions end
      else array['machine.all'] end,
    coalesce(u.org_roles, '{}'), coalesce(a.tenant_id, u.tenant_id), roles_of(book, a.agent_id, u.user_id)
  from unnest(principals, keys) as o (principal, key_id)
  left join api_key k on k.org_id = book and k.key_id = o.key_id
  left join agent a on a.org_id = book and a.agent_id = case when starts_with(o.principal, 'agent:') then substr(o.principal, 7) end
  left join org_user u on u.org_id = book and u.user_id = case when starts_with(o.principal, 'user:') then substr(o.principal, 6) end
$$;

grant execute on function webhook_endpoints_waiting(timestamptz), webhook_claim(text, text[], timestamptz, timestamptz, integer, integer, integer)
  to strongroom_worker;
grant execute on function webhook_owners(text, text[], text[]) to strongroom_app, strongroom_worker;
