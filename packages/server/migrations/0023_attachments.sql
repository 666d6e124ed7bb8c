-- Where the content of attachments lies. What they are is said by signed checkpoints in `vault_asset`; here is only which object
-- in storage holds the bytes of which version. Objects have keys of their own, so that a move between vaults leaves them alone.

create table attachment_upload (
  org_id          text not null,
  upload_id       text not null,
  vault_id        text not null,
  object_key      text not null unique check (object_key ~ '^obj_[0-9a-z]{22}$'),
  -- What the storage calls it.
  storage_id      text not null,
  status          text not null check (status in ('open', 'finalized', 'ending')),
  -- Where the last part ends that an address was given out for: counted against the quotas until the upload ends.
  reserved_bytes  bigint not null default 0 check (reserved_bytes >= 0),
  ciphertext_size bigint,
  ciphertext_hash text,
  created_by      text not null,
  created_at      timestamptz not null,
  changed_at      timestamptz not null,
  primary key (org_id, upload_id),
  foreign key (org_id, vault_id) references vault (org_id, vault_id),
  check (status <> 'finalized' or (ciphertext_size is not null and ciphertext_hash is not null))
);
create index attachment_upload_vault on attachment_upload (org_id, vault_id);
create index attachment_upload_age on attachment_upload (changed_at);

create table attachment (
  org_id          text not null,
  asset_id        text not null,
  asset_version   bigint not null check (asset_version > 0),
  -- Where it was uploaded for; where it is now says `vault_asset`.
  vault_id        text not null,
  item_id         text not null,
  status          text not null check (status in ('uploading', 'stored', 'ending')),
  -- Only while it is uploading.
  upload_id       text,
  -- Only once it is stored.
  object_key      text unique,
  ciphertext_size bigint,
  ciphertext_hash text,
  created_by      text not null,
  created_at      timestamptz not null,
  stored_at       timestamptz,
  primary key (org_id, asset_id, asset_version),
  foreign key (org_id, vault_id) references vault (org_id, vault_id),
  foreign key (org_id, upload_id) references attachment_upload (org_id, upload_id) on delete cascade,
  check ((status = 'uploading') = (upload_id is not null)),
  check ((status = 'uploading') = (object_key is null)),
  check (status = 'uploading' or (ciphertext_size is not null and ciphertext_hash is not null and stored_at is not null))
);
create unique index attachment_of_upload on attachment (org_id, upload_id);

-- Objects in storage that no row here knows, and since when this database has known that it does not know them: after a restore
-- of an old backup nothing that the newer one needs is gone at once.
create table object_orphan (
  object_key text primary key,
  noticed_at timestamptz not null
);

do $$
declare
  t text;
begin
  foreach t in array array['attachment_upload', 'attachment'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    -- Orphans are swept in every organisation; what an attachment holds is not in these tables.
    execute format('create policy worker_sweeps on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
    execute format('grant select, update, delete on %I to strongroom_worker', t);
  end loop;
end $$;
grant select, insert, delete on object_orphan to strongroom_worker;
-- Which version of an attachment is current.
create policy worker_sees on vault_asset for select to strongroom_worker using (true);
