-- The walls: organisations, who belongs to them, what they hold, and what is recorded of them.
-- Every table that belongs to an organisation starts its key with org_id, refers to others by (org_id, …), and shows a
-- transaction only the rows of the organisation it has named in app.org. Without a name it shows none.

create function current_org() returns text language sql stable as $$ select nullif(current_setting('app.org', true), '') $$;

create table org (
  org_id       text primary key check (org_id ~ '^org_[a-z0-9]{20,40}$'),
  name         text not null,
  genesis_hash text not null,
  log_origin   text not null unique,
  created_at   timestamptz not null
);

create table tenant (
  org_id     text not null references org,
  tenant_id  text not null,
  parent_id  text,
  name       text not null,
  status     text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  primary key (org_id, tenant_id),
  foreign key (org_id, parent_id) references tenant (org_id, tenant_id),
  check (parent_id <> tenant_id)
);
create unique index tenant_name on tenant (org_id, coalesce(parent_id, ''), name) where status = 'active';
create index tenant_parent on tenant (org_id, parent_id);

create table org_user (
  org_id     text not null references org,
  user_id    text not null,
  email      text not null,
  name       text not null,
  status     text not null check (status in ('invited', 'active', 'removed')),
  org_roles  text[] not null default '{}',
  tenant_id  text not null,
  created_at timestamptz not null,
  primary key (org_id, user_id),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);
create unique index org_user_email on org_user (lower(email)) where status <> 'removed';

create table agent (
  org_id         text not null references org,
  agent_id       text not null,
  tenant_id      text not null,
  name           text not null,
  description    text not null default '',
  status         text not null check (status in ('active', 'archived')),
  permissions    text[] not null,
  vault_id       text,
  vault_item_id  text,
  created_by     text not null,
  created_at     timestamptz not null,
  archived_at    timestamptz,
  primary key (org_id, agent_id),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);
create index agent_list on agent (org_id, tenant_id, created_at desc, agent_id desc);

create table security_group (
  org_id     text not null references org,
  group_id   text not null,
  tenant_id  text not null,
  name       text not null,
  created_at timestamptz not null,
  primary key (org_id, group_id),
  unique (org_id, tenant_id, name),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id)
);

-- One row per member; the two columns keep foreign keys real for users and agents alike.
create table group_member (
  org_id   text not null,
  group_id text not null,
  user_id  text,
  agent_id text,
  check ((user_id is null) <> (agent_id is null)),
  foreign key (org_id, group_id) references security_group (org_id, group_id) on delete cascade,
  foreign key (org_id, user_id) references org_user (org_id, user_id),
  foreign key (org_id, agent_id) references agent (org_id, agent_id)
);
create unique index group_member_user on group_member (org_id, user_id, group_id) where user_id is not null;
create unique index group_member_agent on group_member (org_id, agent_id, group_id) where agent_id is not null;
create index group_member_group on group_member (org_id, group_id);

-- A role in a tenant, held directly by a user or an agent, or by everybody in a security group.
create table tenant_role (
  org_id    text not null,
  tenant_id text not null,
  role      text not null check (role in ('TENANT_ADMIN', 'TENANT_AGENT_MANAGER', 'TENANT_BUDGET_MANAGER', 'TENANT_MEMBER')),
  user_id   text,
  agent_id  text,
  group_id  text,
  check (num_nonnulls(user_id, agent_id, group_id) = 1),
  foreign key (org_id, tenant_id) references tenant (org_id, tenant_id),
  foreign key (org_id, user_id) references org_user (org_id, user_id),
  foreign key (org_id, agent_id) references agent (org_id, agent_id),
  foreign key (org_id, group_id) references security_group (org_id, group_id) on delete cascade
);
create unique index tenant_role_user on tenant_role (org_id, user_id, tenant_id, role) where user_id is not null;
create unique index tenant_role_agent on tenant_role (org_id, agent_id, tenant_id, role) where agent_id is not null;
create unique index tenant_role_group on tenant_role (org_id, group_id, tenant_id, role) where group_id is not null;

-- The secret is kept as an HMAC under a pepper that is not in the database.
create table api_key (
  org_id         text not null references org,
  key_id         text not null,
  access_key     text not null unique check (access_key ~ '^sra_[A-Za-z0-9]{20}$'),
  secret_hmac    bytea not null check (length(secret_hmac) = 32),
  agent_id       text,
  user_id        text,
  global_admin   boolean not null default false,
  permissions    text[] not null default '{}',
  status         text not null check (status in ('active', 'rotated', 'revoked')),
  created_at     timestamptz not null,
  ended_at       timestamptz,
  primary key (org_id, key_id),
  check (num_nonnulls(agent_id, user_id) <= 1 and (global_admin or num_nonnulls(agent_id, user_id) = 1)),
  foreign key (org_id, agent_id) references agent (org_id, agent_id),
  foreign key (org_id, user_id) references org_user (org_id, user_id)
);
create unique index api_key_agent on api_key (org_id, agent_id) where agent_id is not null and status = 'active';

create table session (
  org_id                 text not null references org,
  session_id             text not null,
  token_hash             bytea not null unique check (length(token_hash) = 32),
  user_id                text not null,
  device_installation_id text,
  user_agent             text not null default '',
  created_at             timestamptz not null,
  last_used_at           timestamptz not null,
  expires_at             timestamptz not null,
  revoked_at             timestamptz,
  primary key (org_id, session_id),
  foreign key (org_id, user_id) references org_user (org_id, user_id)
);
create index session_of_user on session (org_id, user_id, created_at desc);

-- What a person needs to open their keys; the server can open none of it.
create table user_secret (
  org_id              text not null,
  user_id             text not null,
  opaque_record       text not null,
  kid                 text not null,
  bundle_version      integer not null check (bundle_version > 0),
  kdf                 text not null,
  private_bundle      text not null,
  recovery_bundle     text,
  updated_at          timestamptz not null,
  primary key (org_id, user_id),
  foreign key (org_id, user_id) references org_user (org_id, user_id)
);

create table invite (
  org_id      text not null references org,
  invite_id   text not null,
  doc_hash    text not null,
  envelope    jsonb not null,
  email       text not null,
  user_id     text not null,
  status      text not null check (status in ('open', 'accepted', 'endorsed', 'revoked')),
  acceptance  jsonb,
  created_by  text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  primary key (org_id, invite_id),
  foreign key (org_id, user_id) references org_user (org_id, user_id)
);

create table idempotency (
  org_id       text not null references org,
  principal    text not null,
  key_hash     bytea not null,
  request_hash bytea not null,
  status       integer,
  body         jsonb,
  created_at   timestamptz not null,
  primary key (org_id, principal, key_hash)
);
create index idempotency_age on idempotency (created_at);

create table feedback (
  org_id      text not null references org,
  feedback_id text not null,
  agent_id    text not null,
  category    text not null,
  summary     text not null,
  details     text not null,
  route       text,
  request_id  text,
  digest      bytea not null,
  created_at  timestamptz not null,
  primary key (org_id, feedback_id),
  foreign key (org_id, agent_id) references agent (org_id, agent_id)
);
create unique index feedback_once_a_day on feedback (org_id, digest, (date_trunc('day', created_at at time zone 'utc')));

-- Appended, never changed. `seq` orders; `hash` is filled by the sealer, in batches, as a chain per organisation.
create table audit_event (
  org_id      text not null references org,
  event_id    text not null,
  seq         bigint generated always as identity,
  action      text not null,
  occurred_at timestamptz not null,
  actor_type  text not null,
  actor_id    text not null,
  targets     jsonb not null default '[]',
  outcome     text not null check (outcome in ('success', 'refused')),
  error_code  text,
  request_id  text not null,
  ip          text not null default '',
  user_agent  text not null default '',
  metadata    jsonb not null default '{}',
  primary key (org_id, event_id)
);
create index audit_event_order on audit_event (org_id, seq);
create index audit_event_list on audit_event (org_id, occurred_at desc, event_id desc);

create table audit_seal (
  org_id    text not null references org,
  position  bigint not null,
  event_id  text not null,
  prev_hash bytea not null,
  hash      bytea not null,
  sealed_at timestamptz not null,
  primary key (org_id, position),
  unique (org_id, event_id),
  foreign key (org_id, event_id) references audit_event (org_id, event_id)
);

create table vault_activity_event (
  org_id      text not null references org,
  seq         bigint generated always as identity,
  event_id    text not null,
  vault_id    text not null,
  action      text not null,
  actor       text not null,
  subject     text not null default '',
  occurred_at timestamptz not null,
  request_id  text not null,
  primary key (org_id, event_id)
);
create index vault_activity_order on vault_activity_event (org_id, seq);

-- Telemetry: written in batches by its own connection, never in the way of a request.
create table request_event (
  org_id      text not null references org,
  event_id    text not null,
  occurred_at timestamptz not null,
  request_id  text not null,
  trace_id    text,
  method      text not null,
  route       text not null,
  status      integer not null,
  error_code  text,
  duration_ms double precision not null,
  bytes_in    integer not null,
  bytes_out   integer not null,
  principal   text not null,
  access_key  text,
  tenant_id   text,
  ip          text not null,
  user_agent  text not null,
  primary key (org_id, event_id)
);
create index request_event_list on request_event (org_id, principal, occurred_at desc, event_id desc);

create table metric_minute (
  org_id    text not null references org,
  principal text not null,
  route     text not null,
  minute    timestamptz not null,
  requests  bigint not null,
  errors    bigint not null,
  buckets   bigint[] not null,
  primary key (org_id, principal, route, minute)
);

-- The transparency log of docs/protocol.md section 5.
create table log_state (
  org_id   text not null references org,
  size     bigint not null check (size >= 0),
  frontier text[] not null default '{}',
  map_root text not null,
  note     text not null default '',
  primary key (org_id)
);

create table log_leaf (
  org_id    text not null references org,
  leaf_index bigint not null,
  leaf      bytea not null,
  updates   bytea,
  documents bytea,
  primary key (org_id, leaf_index)
);

create table log_node (
  org_id     text not null references org,
  level      integer not null,
  node_index bigint not null,
  hash       bytea not null check (length(hash) = 32),
  primary key (org_id, level, node_index)
);

create table log_document (
  org_id   text not null references org,
  doc_hash text not null,
  kind     text not null,
  envelope jsonb not null,
  primary key (org_id, doc_hash)
);

create table map_state (
  org_id    text not null references org,
  name      text not null,
  state     jsonb not null,
  map_key   bytea not null check (length(map_key) = 32),
  principal text,
  kid       text,
  vault_id  text,
  is_live   boolean not null default true,
  primary key (org_id, name)
);
create index map_state_principal on map_state (org_id, principal) where principal is not null;
create index map_state_kid on map_state (org_id, kid) where kid is not null and is_live;
create index map_state_vault on map_state (org_id, vault_id) where vault_id is not null and is_live;

-- Inner nodes and leaves of the state map by their path; a leaf stands where its subtree has no other.
create table map_node (
  org_id     text not null references org,
  path       text not null,
  hash       bytea not null check (length(hash) = 32),
  leaf_key   bytea,
  leaf_value bytea,
  primary key (org_id, path)
);

create table log_checkpoint (
  org_id     text not null references org,
  size       bigint not null,
  note       text not null,
  created_at timestamptz not null,
  primary key (org_id, size)
);

-- Not owned by an organisation.
create table setup_token (
  singleton  boolean primary key default true check (singleton),
  token_hash bytea not null,
  created_at timestamptz not null,
  used_at    timestamptz
);

create table login_attempt (
  attempt_id text primary key,
  purpose    text not null check (purpose in ('setup', 'login', 'invite')),
  state      jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index login_attempt_age on login_attempt (expires_at);

create table server_secret (
  name       text primary key,
  sealed     bytea not null,
  created_at timestamptz not null
);
