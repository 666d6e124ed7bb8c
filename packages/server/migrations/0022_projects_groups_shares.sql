-- Projects as the log commits to them, who is shown them, named sets of vaults, and sealed copies behind links.

create table project (
  org_id          text not null references org,
  project_id      text not null check (project_id ~ '^p[a-z2-7]{32}$'),
  tenant_id       text not null,
  slug            text not null,
  name            text not null,
  status          text not null check (status in ('active', 'archived')),
  vaults          text[] not null,
  project_version bigint not null check (project_version > 0),
  doc_hash        text not null,
  -- Documents of the admin chain, the creation first.
  admins_chain    text[] not null,
  created_by      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (org_id, project_id),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);
create unique index project_slug on project (org_id, slug) where status = 'active';

-- `admin` rows repeat the signed admins; the others are the server's own list.
create table project_access (
  org_id     text not null,
  project_id text not null,
  principal  text not null check (principal ~ '^(user|agent):'),
  role       text not null check (role in ('read', 'write', 'admin')),
  primary key (org_id, project_id, principal),
  foreign key (org_id, project_id) references project (org_id, project_id)
);
create index project_access_principal on project_access (org_id, principal, project_id);

create table vault_group (
  org_id         text not null references org,
  vault_group_id text not null,
  tenant_id      text not null,
  name           text not null,
  created_by     text not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (org_id, vault_group_id),
  unique (org_id, tenant_id, name),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);

create table vault_group_member (
  org_id         text not null,
  vault_group_id text not null,
  vault_id       text not null,
  primary key (org_id, vault_group_id, vault_id),
  foreign key (org_id, vault_group_id) references vault_group (org_id, vault_group_id) on delete cascade,
  foreign key (org_id, vault_id) references vault (org_id, vault_id)
);

create table shared_item (
  org_id         text not null references org,
  shared_item_id text not null,
  created_by     text not null,
  item_id        text,
  -- Null once the last view is taken: what nobody may see any more is not kept.
  sealed         text check (length(sealed) <= 349526),
  views          integer not null default 0 check (views >= 0),
  max_views      integer not null check (max_views between 1 and 100),
  expires_at     timestamptz not null,
  created_at     timestamptz not null,
  primary key (org_id, shared_item_id),
  check (views <= max_views),
  check ((sealed is null) = (views = max_views))
);
-- Whoever has the link belongs to no organisation; the id is as hard to guess as a key.
create unique index shared_item_id on shared_item (shared_item_id);
create index shared_item_owner on shared_item (org_id, created_by, created_at desc, shared_item_id desc);
create index shared_item_expiry on shared_item (expires_at);

do $$
declare
  t text;
begin
  foreach t in array array['project', 'project_access', 'vault_group', 'vault_group_member', 'shared_item'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
  end loop;
end $$;
-- Projects are archived.
revoke delete on project from strongroom_app;
grant select on project, project_access, vault_group, vault_group_member to strongroom_worker;

create policy named_shared_item on shared_item for select using (shared_item_id = nullif(current_setting('app.shared_item', true), ''));
-- What has expired is the worker's to remove, in every organisation; what it seals is not its to read.
create policy worker_sees on shared_item for select to strongroom_worker using (true);
create policy worker_removes on shared_item for delete to strongroom_worker using (true);
grant select (org_id, shared_item_id, expires_at), delete on shared_item to strongroom_worker;

-- The organisation of a shared item; the transaction then works in it.
create function find_shared_item(wanted text) returns text language plpgsql as $$
declare
  found_org text;
begin
  perform set_config('app.shared_item', wanted, true);
  select org_id into found_org from shared_item where shared_item_id = wanted;
  if found_org is not null then perform set_config('app.org', found_org, true); end if;
  return found_org;
end $$;
grant execute on function find_shared_item(text) to strongroom_app;
