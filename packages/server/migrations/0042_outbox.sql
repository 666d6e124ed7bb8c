-- What happened and is to be told, written in the transaction in which it happened: told if and only if it happened. The worker reads
-- it afterwards. Its text is made once and never again: what is signed later is what was true then.

create table outbox_event (
  org_id      text not null references org (org_id),
  event_id    text not null,
  seq         bigint generated always as identity,
  type        text not null,
  -- The payload of every delivery, byte for byte.
  body        text not null,
  -- Who may be told: those who work in the tenant, are on the list of the vault, or are this principal; everybody of the
  -- organisation with the permission of the type where all three are null.
  tenant_id   text,
  vault_id    text,
  principal   text,
  occurred_at timestamptz not null,
  -- Deliveries have been made of it.
  fanned_out_at timestamptz,
  primary key (org_id, event_id)
);
create index outbox_waiting on outbox_event (seq) where fanned_out_at is null;
create index outbox_order on outbox_event (org_id, seq);

-- How often a thing was told of, so that whoever hears late can tell what is older.
create table outbox_sequence (
  org_id      text not null references org (org_id),
  object_type text not null,
  object_id   text not null,
  sequence    bigint not null,
  primary key (org_id, object_type, object_id)
);

do $$
declare
  t text;
begin
  foreach t in array array['outbox_event', 'outbox_sequence'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert on %I to strongroom_app, strongroom_worker', t);
  end loop;
end $$;
grant update on outbox_sequence to strongroom_app, strongroom_worker;
grant update (fanned_out_at), delete on outbox_event to strongroom_worker;
