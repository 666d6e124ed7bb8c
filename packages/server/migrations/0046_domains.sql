-- Domains, and the records of those that are managed here and kept in this database.

create table domain (
  org_id     text not null references org (org_id),
  -- As in the DNS: lower case, without the last dot, in punycode.
  name       text not null,
  managed    boolean not null,
  serial     bigint not null default 1,
  created_by text not null,
  created_at timestamptz not null,
  primary key (org_id, name)
);
-- Of those who say that they manage a domain one is right.
create unique index domain_managed_once on domain (name) where managed;

create table dns_record (
  org_id   text not null,
  domain   text not null,
  position integer not null,
  name     text not null,
  type     text not null,
  content  text not null,
  ttl      integer not null,
  priority integer,
  comment  text,
  primary key (org_id, domain, position),
  foreign key (org_id, domain) references domain (org_id, name) on delete cascade
);

do $$
declare
  t text;
begin
  foreach t in array array['domain', 'dns_record'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('grant select, insert, update, delete on %I to strongroom_app', t);
  end loop;
end $$;
