-- Prepaid credit that comes over a chain. An intent has an address of its own, derived from a public key whose private half this
-- server never had; whatever arrives there is credited once it is confirmed. What the chain says may change: every row about it can
-- be told again, moved, or taken back, and the book of the organisation follows.

create table funding_intent (
  org_id        text not null references org (org_id),
  intent_id     text not null,
  -- Of the address. Never used twice, also not after a restore: who was told an address may pay to it in years.
  address_index bigint generated always as identity (minvalue 0 start 0 maxvalue 2147483647),
  address       text not null check (address ~ '^0x[0-9a-f]{40}$'),
  chain_id      bigint not null,
  symbol        text not null,
  contract      text not null check (contract ~ '^0x[0-9a-f]{40}$'),
  decimals      integer not null check (decimals between 0 and 36),
  target        numeric(38, 0) not null check (target > 0),
  expires_at    timestamptz not null,
  cancelled_at  timestamptz,
  -- What the status was when it was last told of. It is always the fold of the deposits, never set by hand.
  status        text not null default 'requires_payment' check (status in
    ('requires_payment', 'processing', 'partially_funded', 'funded', 'expired', 'cancelled', 'in_review')),
  exceptions    text[] not null default '{}',
  version       bigint not null default 1,
  created_by    text not null,
  created_at    timestamptz not null,
  primary key (org_id, intent_id),
  -- Across organisations: an address is bound to one for ever.
  unique (address),
  unique (address_index)
);
create index funding_intent_watched on funding_intent (chain_id);
create index funding_intent_waiting on funding_intent (expires_at) where status = 'requires_payment';

create table funding_deposit (
  org_id        text not null,
  intent_id     text not null,
  chain_id      bigint not null,
  tx_hash       text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- Of the log inside its own receipt. Its index in the block changes when the same transaction comes into another block.
  ordinal       integer not null check (ordinal >= 0),
  contract      text not null,
  -- In the units of the token.
  value         numeric(78, 0) not null check (value > 0),
  -- In micro-units, and what was below one of them, in the units of the token.
  amount        numeric(38, 0) not null check (amount > 0),
  remainder     numeric(78, 0) not null check (remainder >= 0),
  block_number  bigint not null,
  block_hash    text not null,
  -- When the block was made.
  paid_at       timestamptz not null,
  -- reversed: it was credited and is no longer on the chain. held: somebody has to look at it.
  state         text not null check (state in ('seen', 'credited', 'orphaned', 'reversed', 'held')),
  seen_at       timestamptz not null,
  -- Of the first time.
  credited_at   timestamptz,
  -- How often it was reversed, and how much of it lies in suspense now.
  round         integer not null default 0,
  taken         numeric(38, 0) not null default 0 check (taken >= 0 and taken <= amount),
  primary key (org_id, chain_id, tx_hash, ordinal),
  foreign key (org_id, intent_id) references funding_intent (org_id, intent_id),
  check (state not in ('credited', 'reversed') or credited_at is not null)
);
create index funding_deposit_intent on funding_deposit (org_id, intent_id);
create index funding_deposit_block on funding_deposit (chain_id, block_number);
create index funding_deposit_open on funding_deposit (chain_id, state) where state in ('seen', 'reversed');

-- Every change of an intent (object: its id) and of a deposit (object: transaction and ordinal).
create table funding_transition (
  org_id      text not null,
  intent_id   text not null,
  seq         bigint generated always as identity,
  object      text not null,
  from_state  text,
  to_state    text not null,
  cause       text not null,
  occurred_at timestamptz not null,
  primary key (org_id, intent_id, seq),
  foreign key (org_id, intent_id) references funding_intent (org_id, intent_id)
);

-- How far the chain was read. Of the deployment, not of an organisation.
create table chain_cursor (
  chain_id    bigint primary key,
  -- Nothing before it is of interest: there was no address yet.
  first_block bigint not null,
  next_block  bigint not null,
  head        bigint not null,
  -- Whoever writes has read it: two that read at once cannot both write.
  version     bigint not null default 1,
  read_at     timestamptz not null
);

-- Blocks that were read, to notice when the chain has become another one.
create table chain_block (
  chain_id bigint not null,
  number   bigint not null,
  hash     text not null,
  primary key (chain_id, number)
);

-- Tokens whose decimals the chain itself has confirmed.
create table chain_asset (
  chain_id   bigint not null,
  contract   text not null,
  decimals   integer not null,
  checked_at timestamptz not null,
  primary key (chain_id, contract)
);

do $$
declare
  t text;
begin
  foreach t in array array['funding_intent', 'funding_deposit', 'funding_transition'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_worker', t);
    execute format('grant select on %I to strongroom_app', t);
  end loop;
end $$;
grant insert, update on funding_intent to strongroom_app;
grant insert on funding_transition to strongroom_app;
revoke update on funding_transition from strongroom_worker;
grant usage on all sequences in schema strongroom to strongroom_app, strongroom_worker;
grant select on chain_cursor, chain_asset to strongroom_app;
grant select, insert, update, delete on chain_cursor, chain_block, chain_asset to strongroom_worker;
