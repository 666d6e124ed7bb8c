-- Licences: bought, handed over and ended step by step. What is written before a step says what may have happened if nobody comes
-- back from it; what a provider said in secret is here only sealed to the key of the buyer, and gone when it lies in a vault.

create table license_purchase (
  org_id          text not null references org (org_id),
  purchase_id     text not null,
  -- Named before it exists, because what is sealed is bound to it.
  instance_id     text not null,
  tenant_id       text not null,
  -- Who bought: `agent:<id>` or `user:<id>`.
  principal       text not null,
  -- The offer as it was: a catalogue may change.
  slug            text not null,
  name            text not null,
  provider        text not null,
  sku             text not null,
  term            text not null check (term in ('month', 'once')),
  quantity        integer not null check (quantity between 1 and 1000),
  amount          numeric(38, 0) not null check (amount > 0),
  fields          jsonb not null,
  vault_mode      text not null check (vault_mode in ('new', 'existing')),
  vault_name      text,
  vault_id        text,
  recipient_kid   text not null,
  recipient_key   jsonb not null,
  -- `agent <id>`, `tenant <id>`: whose budgets it counts in, also when it is tried again.
  subjects        text[] not null,
  state           text not null check (state in ('reserved', 'provisioning', 'provider_pending', 'awaiting_handoff', 'completed',
    'failed', 'compensating', 'cancelled', 'in_review')),
  reason          text,
  version         integer not null default 1,
  -- Which hold is meant: a new one is made where an earlier one was given back.
  hold_no         integer not null default 1,
  money           text not null default 'held' check (money in ('held', 'captured', 'released', 'refunded')),
  attempts        integer not null default 0,
  reminders       integer not null default 0,
  provider_ref    text,
  instance_ref    text,
  sealing         text check (sealing in ('at_source', 'on_receipt')),
  quote_valid_until timestamptz not null,
  resumable_until timestamptz,
  period_start    timestamptz,
  period_end      timestamptz,
  -- The commit that brought the item, and the receipt of who took it.
  handoff_digest  text,
  handoff_index   bigint,
  handoff_receipt jsonb,
  item_id         text,
  -- When the next step is due; null where nothing is left to do, or somebody else has to.
  next_at         timestamptz,
  lease_until     timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (org_id, purchase_id),
  unique (org_id, instance_id),
  check ((vault_mode = 'new') = (vault_name is not null)),
  check (vault_mode = 'new' or vault_id is not null)
);
create index license_purchase_due on license_purchase (next_at) where next_at is not null;
create index license_purchase_of on license_purchase (org_id, principal);

-- Sealed to the buyer's key; nobody here can open it. Gone when the buyer has put it into a vault.
create table license_sealed (
  org_id      text not null,
  purchase_id text not null,
  envelope    jsonb not null,
  doc_hash    text not null,
  created_at  timestamptz not null,
  primary key (org_id, purchase_id),
  foreign key (org_id, purchase_id) references license_purchase (org_id, purchase_id)
);

create table license_instance (
  org_id        text not null,
  instance_id   text not null,
  purchase_id   text not null,
  tenant_id     text not null,
  principal     text not null,
  slug          text not null,
  name          text not null,
  provider      text not null,
  sku           text not null,
  term          text not null,
  quantity      integer not null,
  amount        numeric(38, 0) not null,
  instance_ref  text not null,
  status        text not null check (status in ('active', 'terminating', 'terminated')),
  revision      integer not null default 1,
  period_start  timestamptz not null,
  -- Null: it never ends.
  period_end    timestamptz,
  vault_id      text,
  item_id       text,
  created_at    timestamptz not null,
  terminated_at timestamptz,
  primary key (org_id, instance_id),
  foreign key (org_id, purchase_id) references license_purchase (org_id, purchase_id)
);
create index license_instance_of on license_instance (org_id, principal);

create table license_termination (
  org_id         text not null,
  termination_id text not null,
  instance_id    text not null,
  principal      text not null,
  effective      text not null check (effective in ('immediate', 'period_end')),
  -- What was asked for; `effective` may have become the end of the period since.
  asked          text not null check (asked in ('immediate', 'period_end')),
  fallback       text check (fallback in ('period_end')),
  note           text,
  state          text not null check (state in ('requested', 'cancelling', 'cancel_pending', 'settling', 'completed', 'failed', 'in_review')),
  reason         text,
  version        integer not null default 1,
  attempts       integer not null default 0,
  -- What the provider gives back, where it says so.
  refundable     numeric(38, 0) check (refundable >= 0),
  refund         numeric(38, 0) check (refund >= 0),
  effective_at   timestamptz,
  earliest_at    timestamptz,
  next_at        timestamptz,
  lease_until    timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (org_id, termination_id),
  foreign key (org_id, instance_id) references license_instance (org_id, instance_id)
);
create unique index license_termination_runs_once on license_termination (org_id, instance_id) where state <> 'completed';
create index license_termination_due on license_termination (next_at) where next_at is not null;

-- Every step of a purchase and of a termination.
create table license_transition (
  org_id     text not null references org (org_id),
  -- A purchase or a termination.
  object_id  text not null,
  seq        integer not null,
  from_state text,
  to_state   text not null,
  cause      text not null,
  actor      text not null,
  at         timestamptz not null,
  primary key (org_id, object_id, seq)
);

-- What was about to be asked of a provider, written before it is asked: unknown is not failed.
create table license_call (
  org_id         text not null references org (org_id),
  object_id      text not null,
  op             text not null check (op in ('order', 'cancel')),
  provider       text not null,
  request_digest text not null,
  state          text not null check (state in ('planned', 'sent', 'unknown', 'done')),
  provider_ref   text,
  planned_at     timestamptz not null,
  sent_at        timestamptz,
  ended_at       timestamptz,
  primary key (org_id, object_id, op)
);

do $$
declare
  t text;
begin
  foreach t in array array['license_purchase', 'license_sealed', 'license_instance', 'license_termination', 'license_transition', 'license_call'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_app, strongroom_worker', t);
  end loop;
end $$;
grant delete on license_sealed to strongroom_app, strongroom_worker;
revoke update on license_transition from strongroom_app, strongroom_worker;
