-- Cosignatures of witnesses and auditors (docs/protocol.md 5.5). Only keys that the organisation has registered are kept, and only
-- what verifies: a bad line by a key that a client knows would make it refuse an honest checkpoint.

create table log_witness (
  org_id     text not null references org (org_id),
  vkey       text not null,
  created_at timestamptz not null,
  primary key (org_id, vkey)
);

-- signed_at is in seconds, as cosignatures count; of one key and size the newest is kept.
create table log_cosignature (
  org_id    text not null,
  size      bigint not null,
  vkey      text not null,
  line      text not null,
  signed_at bigint not null check (signed_at >= 0),
  primary key (org_id, size, vkey),
  foreign key (org_id, size) references log_checkpoint (org_id, size)
);

-- The lines for the newest checkpoint, beside it: who reads the one has the other. `cosigned` counts their changes, for those who
-- keep answers.
alter table log_state
  add column cosignatures text not null default '',
  add column cosigned     bigint not null default 0;

do $$
declare
  t text;
begin
  foreach t in array array['log_witness', 'log_cosignature'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    execute format('grant select on %I to strongroom_worker', t);
  end loop;
end $$;
revoke update on log_witness from strongroom_app;
revoke delete on log_cosignature from strongroom_app;
