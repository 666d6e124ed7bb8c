-- Keys that wait for their endorser, and items that are shown to fewer people than their vault.

create table pending_key (
  org_id     text not null references org,
  kid        text not null,
  endorser   text not null,
  envelope   jsonb not null,
  created_at timestamptz not null,
  primary key (org_id, kid)
);
create index pending_key_endorser on pending_key (org_id, endorser, created_at desc);

create table vault_item_access (
  org_id    text not null,
  item_id   text not null,
  principal text not null check (principal ~ '^(user|agent):'),
  role      text not null check (role in ('read', 'write', 'admin')),
  primary key (org_id, item_id, principal),
  foreign key (org_id, item_id) references vault_item (org_id, item_id) on delete cascade
);

do $$
declare
  t text;
begin
  foreach t in array array['pending_key', 'vault_item_access'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    execute format('grant select on %I to strongroom_worker', t);
  end loop;
end $$;
