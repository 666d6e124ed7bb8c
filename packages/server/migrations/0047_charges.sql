-- What licences cost day by day and month by month, and what happens when a period that was paid for ends.

-- A period that was paid for, written with the transfer that paid for it. Its days become lines when they begin.
create table license_period (
  org_id       text not null,
  instance_id  text not null,
  period_no    integer not null check (period_no > 0),
  starts_at    timestamptz not null,
  -- Null: bought once, and used when it was delivered.
  ends_at      timestamptz,
  amount       numeric(38, 0) not null check (amount > 0),
  -- What paid for it, and what it counts as in budgets.
  transfer_id  text not null,
  owner        text not null,
  -- Set when it ended early: the rest was given back by that transfer.
  ended_at     timestamptz,
  refund       numeric(38, 0) check (refund >= 0 and refund <= amount),
  refund_id    text,
  -- How many of its days have their line, and when the next one gets it; null where none is left.
  charged_days integer not null default 0 check (charged_days >= 0),
  next_at      timestamptz,
  primary key (org_id, instance_id, period_no),
  foreign key (org_id, instance_id) references license_instance (org_id, instance_id),
  check (ends_at is null or ends_at > starts_at),
  check ((ended_at is null) = (refund is null))
);
create index license_period_due on license_period (next_at) where next_at is not null;

insert into license_period (org_id, instance_id, period_no, starts_at, ends_at, amount, transfer_id, owner, next_at)
  select i.org_id, i.instance_id, 1, i.period_start, i.period_end, i.amount,
    'capture:' || p.purchase_id || ':' || p.hold_no,
    case p.hold_no when 1 then 'purchase:' || p.purchase_id else 'purchase:' || p.purchase_id || '.' || p.hold_no end, i.period_start
  from license_instance i join license_purchase p using (org_id, purchase_id);
update license_period l set ended_at = coalesce(t.effective_at, t.updated_at), refund = coalesce(t.refund, 0),
    refund_id = case when t.refund > 0 then 'refund:' || t.termination_id end
  from license_termination t where t.org_id = l.org_id and t.instance_id = l.instance_id and t.state = 'completed';

-- A month of an organisation, from the first line in it on. What is final never changes.
create table charge_month (
  org_id     text not null references org (org_id),
  month      text not null check (month ~ '^[0-9]{4}-(?:0[1-9]|1[0-2])$'),
  state      text not null check (state in ('open', 'closing', 'final')),
  version    integer not null default 1,
  next_at    timestamptz,
  created_at timestamptz not null,
  closed_at  timestamptz,
  primary key (org_id, month),
  check ((state = 'final') = (closed_at is not null))
);
create index charge_month_due on charge_month (next_at) where next_at is not null;

create table charge_line (
  org_id        text not null,
  line_id       text not null,
  -- The month it is counted in: the one of its date, a day in UTC.
  month         text not null,
  date          text not null check (date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  instance_id   text not null,
  kind          text not null check (kind in ('recurring', 'usage', 'setup', 'credit', 'adjustment')),
  quantity      integer not null check (quantity > 0),
  amount        numeric(38, 0) not null,
  -- The day it belongs to, where that one's month was closed already, or the day that it corrects.
  corrects_date text check (corrects_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  -- What it was made from: asked for twice it is one line, in whichever month it came.
  source        text not null,
  -- The transfer that has paid for it, or given it back.
  transfer_id   text not null,
  created_at    timestamptz not null,
  primary key (org_id, line_id),
  unique (org_id, instance_id, source),
  foreign key (org_id, month) references charge_month (org_id, month),
  foreign key (org_id, instance_id) references license_instance (org_id, instance_id),
  check (month = left(date, 7))
);
create index charge_line_month on charge_line (org_id, month, instance_id, date);

-- Whoever writes a line holds the month open until then; whoever closes it waits for them.
create function charge_line_needs_an_open_month() returns trigger language plpgsql as $$
begin
  perform 1 from charge_month where org_id = new.org_id and month = new.month and state <> 'final' for share;
  if not found then raise exception 'the month % is closed', new.month using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger charge_line_in_open_month before insert on charge_line
  for each row execute function charge_line_needs_an_open_month();

create function charges_are_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'charge lines and closed months are never changed';
end $$;
create trigger charge_line_stays before update or delete on charge_line
  for each row execute function charges_are_append_only();
create trigger charge_month_stays before update or delete on charge_month
  for each row when (old.state = 'final') execute function charges_are_append_only();

-- The next period of a licence: its money first, then the provider, then the period.
create table license_renewal (
  org_id       text not null,
  renewal_id   text not null,
  instance_id  text not null,
  period_no    integer not null check (period_no > 1),
  -- Where the period before ends and the new one begins.
  starts_at    timestamptz not null,
  amount       numeric(38, 0) not null check (amount > 0),
  state        text not null check (state in ('waiting', 'reserved', 'renewing', 'renewed', 'lapsed', 'in_review')),
  reason       text,
  version      integer not null default 1,
  attempts     integer not null default 0,
  next_at      timestamptz,
  lease_until  timestamptz,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (org_id, renewal_id),
  unique (org_id, instance_id, period_no),
  foreign key (org_id, instance_id) references license_instance (org_id, instance_id)
);
create index license_renewal_due on license_renewal (next_at) where next_at is not null;

alter table license_instance drop constraint license_instance_status_check;
alter table license_instance add constraint license_instance_status_check
  check (status in ('active', 'terminating', 'terminated', 'expired'));
alter table license_call drop constraint license_call_op_check;
alter table license_call add constraint license_call_op_check check (op in ('order', 'cancel', 'renew'));
create index license_instance_ending on license_instance (period_end) where status = 'active' and period_end is not null;

do $$
declare
  t text;
begin
  foreach t in array array['license_period', 'charge_month', 'charge_line', 'license_renewal'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_app, strongroom_worker', t);
  end loop;
end $$;
revoke update on charge_line from strongroom_app, strongroom_worker;

-- What can be bought, besides what the file of the operator says. Of the deployment, not of an organisation.
create table catalogue_offer (
  slug       text primary key check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  offer      jsonb not null,
  version    integer not null default 1,
  updated_at timestamptz not null
);
grant select, insert, update, delete on catalogue_offer to strongroom_app;
grant select on catalogue_offer to strongroom_worker;
