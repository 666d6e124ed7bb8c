-- A secret that was rotated is good for a day, also where it is rotated again within that: those before the last one, with the end of each.

alter table webhook_endpoint
  add column older_secrets       bytea[] not null default '{}',
  add column older_secrets_until timestamptz[] not null default '{}',
  add check (cardinality(older_secrets) = cardinality(older_secrets_until));
