-- Vaults as the log commits to them. Every row here follows from signed documents: it is what lists, access checks and syncs are
-- answered from, and it is written in the transaction that appends the leaf.

create table vault (
  org_id         text not null references org,
  vault_id       text not null check (vault_id ~ '^v[a-z2-7]{32}$'),
  tenant_id      text not null,
  name           text not null,
  classification text not null check (classification in ('public', 'internal', 'confidential', 'restricted')),
  status         text not null check (status in ('active', 'archived')),
  head_version   bigint not null check (head_version > 0),
  head_hash      text not null,
  head_index     bigint not null,
  -- Documents of the admin chain, the creation first.
  admins_chain   text[] not null,
  item_count     integer not null default 0,
  rotation_due   timestamptz,
  created_by     text not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (org_id, vault_id),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);

-- The access list in force. A row that ended stays as the tombstone that syncs tell of.
create table vault_access (
  org_id      text not null,
  vault_id    text not null,
  principal   text not null check (principal ~ '^(user|agent):'),
  role        text check (role in ('read', 'write', 'admin')),
  -- The leaf that gave this access, or took it away.
  since_index bigint not null,
  primary key (org_id, vault_id, principal),
  foreign key (org_id, vault_id) references vault (org_id, vault_id)
);
create index vault_access_principal on vault_access (org_id, principal, vault_id);

create table vault_item (
  org_id       text not null,
  vault_id     text not null,
  item_id      text not null,
  item_version bigint not null check (item_version > 0),
  name         text not null,
  website      text not null,
  status       text not null check (status in ('active', 'archived')),
  field_count  integer not null,
  detail_hash  text not null,
  detail       jsonb not null,
  -- The head and the leaf that changed it last.
  head_version bigint not null,
  changed_index bigint not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (org_id, vault_id, item_id),
  -- Routes name an item without its vault, and a moved one keeps its id.
  unique (org_id, item_id),
  foreign key (org_id, vault_id) references vault (org_id, vault_id)
);
create index vault_item_change on vault_item (org_id, vault_id, head_version);

-- An item that left for another vault: readers of the old one learn that it is gone.
create table vault_item_gone (
  org_id        text not null,
  vault_id      text not null,
  item_id       text not null,
  head_version  bigint not null,
  changed_index bigint not null,
  primary key (org_id, vault_id, item_id),
  foreign key (org_id, vault_id) references vault (org_id, vault_id)
);

create table vault_field (
  org_id      text not null,
  vault_id    text not null,
  item_id     text not null,
  field_id    text not null,
  label       text not null,
  env         boolean not null,
  ct          text not null,
  dek_version bigint not null,
  rev         bigint not null,
  value       text not null,
  primary key (org_id, vault_id, field_id),
  foreign key (org_id, vault_id, item_id) references vault_item (org_id, vault_id, item_id) on delete cascade
);
create index vault_field_item on vault_field (org_id, vault_id, item_id);

-- Attachments as heads commit to them; where their content lies is kept by the attachments module.
create table vault_asset (
  org_id        text not null,
  vault_id      text not null,
  asset_id      text not null,
  asset_version bigint not null check (asset_version > 0),
  item_id       text not null,
  status        text not null check (status in ('active', 'archived')),
  doc_hash      text not null,
  dek_version   bigint not null,
  checkpoint    jsonb not null,
  head_version  bigint not null,
  changed_index bigint not null,
  created_at    timestamptz not null,
  primary key (org_id, vault_id, asset_id),
  unique (org_id, asset_id),
  foreign key (org_id, vault_id, item_id) references vault_item (org_id, vault_id, item_id)
);
create index vault_asset_item on vault_asset (org_id, vault_id, item_id);

-- Every answer names the genesis and the policies.
create index log_document_root on log_document (org_id) where kind in ('org.genesis', 'policy.set');

do $$
declare
  t text;
begin
  foreach t in array array['vault', 'vault_access', 'vault_item', 'vault_item_gone', 'vault_field', 'vault_asset'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    execute format('grant select on %I to strongroom_worker', t);
  end loop;
end $$;
-- Vaults are archived, and access ends by a tombstone.
revoke delete on vault, vault_access from strongroom_app;
