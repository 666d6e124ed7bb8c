-- Budgets: what may be spent, decided before it is spent. A window is a row that comes into being when it is first needed; nothing
-- is ever reset. A reservation counts in every window that applies to it, or in none.

create table budget (
  org_id                text not null references org (org_id),
  budget_id             text not null,
  subject_type          text not null check (subject_type in ('org', 'tenant', 'user', 'agent')),
  subject_id            text not null,
  name                  text not null default '',
  enforcement           text not null check (enforcement in ('hard', 'notify')),
  per_transaction_limit numeric(38, 0) check (per_transaction_limit >= 0),
  thresholds            integer[] not null,
  status                text not null default 'active' check (status in ('active', 'archived')),
  version               bigint not null default 1,
  created_by            text not null,
  created_at            timestamptz not null,
  primary key (org_id, budget_id)
);
create index budget_subject on budget (org_id, subject_type, subject_id) where status = 'active';

-- One budget may have several: so much a day, and so much a month.
create table budget_rule (
  org_id     text not null,
  budget_id  text not null,
  rule_no    integer not null,
  kind       text not null check (kind in ('daily', 'weekly', 'monthly', 'total', 'rolling')),
  amount     numeric(38, 0) not null check (amount >= 0),
  time_zone  text not null default 'UTC',
  -- 1 is Monday.
  week_start integer check (week_start between 1 and 7),
  anchor_day integer check (anchor_day between 1 and 31),
  -- In seconds.
  duration   integer check (duration between 3600 and 7776000),
  starts_at  timestamptz,
  ends_at    timestamptz,
  -- Spending before this moment does not count.
  count_from timestamptz not null,
  is_active  boolean not null default true,
  primary key (org_id, budget_id, rule_no),
  foreign key (org_id, budget_id) references budget (org_id, budget_id),
  check ((kind = 'weekly') = (week_start is not null)),
  check ((kind = 'monthly') = (anchor_day is not null)),
  check ((kind = 'rolling') = (duration is not null))
);

create table budget_window (
  org_id    text not null,
  budget_id text not null,
  rule_no   integer not null,
  starts_at timestamptz not null,
  -- Null: it never ends.
  ends_at   timestamptz,
  reserved  numeric(38, 0) not null default 0 check (reserved >= 0),
  spent     numeric(38, 0) not null default 0 check (spent >= 0),
  primary key (org_id, budget_id, rule_no, starts_at),
  foreign key (org_id, budget_id, rule_no) references budget_rule (org_id, budget_id, rule_no)
);

create table budget_reservation (
  org_id     text not null references org (org_id),
  -- Whoever reserves is asked for once: `purchase:<id>`.
  owner      text not null,
  amount     numeric(38, 0) not null check (amount > 0),
  -- What was spent of it in the end, less what was given back later.
  committed  numeric(38, 0) not null default 0 check (committed >= 0 and committed <= amount),
  -- `agent <id>`, `tenant <id>`: for whom it was spent, so that a later budget can count it.
  subjects   text[] not null,
  state      text not null check (state in ('held', 'committed', 'released')),
  held_at    timestamptz not null,
  ended_at   timestamptz,
  primary key (org_id, owner)
);

create index budget_reservation_held on budget_reservation (org_id, held_at);

-- In which windows it counts.
create table budget_hold (
  org_id    text not null,
  owner     text not null,
  budget_id text not null,
  rule_no   integer not null,
  starts_at timestamptz not null,
  held_at   timestamptz not null,
  -- What counts now: all of it while it is held, what was spent afterwards.
  amount    numeric(38, 0) not null check (amount >= 0),
  primary key (org_id, owner, budget_id, rule_no),
  foreign key (org_id, owner) references budget_reservation (org_id, owner),
  foreign key (org_id, budget_id, rule_no, starts_at) references budget_window (org_id, budget_id, rule_no, starts_at)
);
create index budget_hold_rolling on budget_hold (org_id, budget_id, rule_no, held_at);

create table budget_refund (
  org_id      text not null,
  owner       text not null,
  refund      text not null,
  amount      numeric(38, 0) not null check (amount > 0),
  refunded_at timestamptz not null,
  primary key (org_id, owner, refund),
  foreign key (org_id, owner) references budget_reservation (org_id, owner)
);

-- Each threshold of each window is told of once.
create table budget_threshold (
  org_id     text not null,
  budget_id  text not null,
  rule_no    integer not null,
  starts_at  timestamptz not null,
  threshold  integer not null,
  reached_at timestamptz not null,
  primary key (org_id, budget_id, rule_no, starts_at, threshold)
);

-- The window of a rule at a moment, half open; in the rule's own time zone, so that a day may have 23 or 25 hours.
create function budget_window_at(r budget_rule, at timestamptz) returns table (starts_at timestamptz, ends_at timestamptz)
  language plpgsql stable as $$
declare
  here  timestamp := at at time zone r.time_zone;
  first timestamp;
  next  timestamp;
begin
  if r.kind in ('total', 'rolling') then
    return query select coalesce(r.starts_at, r.count_from), r.ends_at;
    return;
  end if;
  if r.kind = 'daily' then
    first := date_trunc('day', here);
    next := first + interval '1 day';
  elsif r.kind = 'weekly' then
    first := date_trunc('day', here) - make_interval(days => (extract(isodow from here)::int - r.week_start + 7) % 7);
    next := first + interval '7 days';
  else
    first := budget_month_start(date_trunc('month', here), r.anchor_day);
    if first > here then first := budget_month_start(date_trunc('month', here) - interval '1 month', r.anchor_day); end if;
    next := budget_month_start(date_trunc('month', first) + interval '1 month', r.anchor_day);
  end if;
  return query select first at time zone r.time_zone, next at time zone r.time_zone;
end $$;

-- The anchor day of a month, or its last day where it has none such.
create function budget_month_start(month timestamp, anchor integer) returns timestamp language sql immutable as $$
  select least(month + make_interval(days => anchor - 1), month + interval '1 month' - interval '1 day')
$$;

-- What counts in a window of a rule now; the window's row is locked by whoever decides on the answer.
create function budget_used(r budget_rule, w budget_window, at timestamptz) returns numeric language sql stable as $$
  select case when r.kind = 'rolling' then coalesce((
    select sum(h.amount) from budget_hold h
    where h.org_id = r.org_id and h.budget_id = r.budget_id and h.rule_no = r.rule_no and h.held_at > at - make_interval(secs => r.duration)), 0)
  else w.reserved + w.spent end
$$;

-- Reserves in every window that applies, or in none: {"held": true, "reached": […]}, or {"refused": why, …} and whoever asked
-- rolls back. Everybody takes locks in the order of budgets and rules. Asked again for the same owner it changes nothing.
create function budget_reserve(book text, owner_ text, wanted numeric, subjects_ text[], at timestamptz)
  returns jsonb language plpgsql as $$
declare
  known   budget_reservation;
  b       budget;
  r       budget_rule;
  w       budget_window;
  used    numeric;
  reached jsonb := '[]';
begin
  insert into budget_reservation (org_id, owner, amount, subjects, state, held_at)
    values (book, owner_, wanted, subjects_, 'held', at) on conflict do nothing;
  if not found then
    select * into known from budget_reservation where org_id = book and owner = owner_;
    if known.amount = wanted and known.state = 'held' then return '{"held": true, "reached": []}'; end if;
    return jsonb_build_object('refused', 'owner_has_reserved');
  end if;
  for b in
    select * from budget where org_id = book and status = 'active' and subject_type || ' ' || subject_id = any(subjects_)
    order by budget_id for share
  loop
    if b.enforcement = 'hard' and wanted > b.per_transaction_limit then
      return jsonb_build_object('refused', 'transaction_limit', 'budgetId', b.budget_id, 'subjectType', b.subject_type,
        'subjectId', b.subject_id, 'limit', b.per_transaction_limit::text);
    end if;
    for r in 
      select * from budget_rule where org_id = book and budget_id = b.budget_id and is_active order by rule_no
    loop
      continue when at < r.starts_at or at >= r.ends_at;
      insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
        select book, b.budget_id, r.rule_no, n.starts_at, n.ends_at from budget_window_at(r, at) n on conflict do nothing;
      select x.* into w from budget_window x, budget_window_at(r, at) n
        where x.org_id = book and x.budget_id = b.budget_id and x.rule_no = r.rule_no and x.starts_at = n.starts_at
        for update of x;
      used := budget_used(r, w, at);
      if b.enforcement = 'hard' and used + wanted > r.amount then
        return jsonb_build_object('refused', 'exceeded', 'budgetId', b.budget_id, 'subjectType', b.subject_type,
          'subjectId', b.subject_id, 'ruleNo', r.rule_no, 'startsAt', w.starts_at,
          'remaining', greatest(r.amount - used, 0)::text, 'resetsAt', case when r.kind = 'rolling' then null else w.ends_at end);
      end if;
      insert into budget_hold (org_id, owner, budget_id, rule_no, starts_at, held_at, amount)
        values (book, owner_, b.budget_id, r.rule_no, w.starts_at, at, wanted);
      update budget_window x set reserved = x.reserved + wanted
        where x.org_id = book and x.budget_id = b.budget_id and x.rule_no = r.rule_no and x.starts_at = w.starts_at;
      with told as (
        insert into budget_threshold (org_id, budget_id, rule_no, starts_at, threshold, reached_at)
          select book, b.budget_id, r.rule_no, w.starts_at, t, at from unnest(b.thresholds) t
          where (used + wanted) * 100 >= r.amount * t and r.amount > 0 and r.kind <> 'rolling'
          on conflict do nothing returning threshold)
      select reached || coalesce(jsonb_agg(jsonb_build_object('budgetId', b.budget_id, 'ruleNo', r.rule_no,
          'startsAt', w.starts_at, 'threshold', threshold) order by threshold), '[]')
        into reached from told;
    end loop;
  end loop;
  return jsonb_build_object('held', true, 'reached', reached);
end $$;

-- Ends a reservation: so much of it was spent, the rest is free again in the windows where it was held. Asked again it changes
-- nothing. False if it was ended with another amount, or never was.
create function budget_settle(book text, owner_ text, spent_ numeric, at timestamptz) returns boolean language plpgsql as $$
declare
  known budget_reservation;
begin
  perform 1 from budget_window w join budget_hold h using (org_id, budget_id, rule_no, starts_at)
    where h.org_id = book and h.owner = owner_ order by w.budget_id, w.rule_no for update of w;
  select * into known from budget_reservation where org_id = book and owner = owner_ for update;
  if not found or spent_ > known.amount then return false; end if;
  if known.state <> 'held' then return known.committed = spent_; end if;
  update budget_window w set reserved = w.reserved - h.amount, spent = w.spent + spent_
    from budget_hold h
    where h.org_id = book and h.owner = owner_ and w.org_id = book and w.budget_id = h.budget_id and w.rule_no = h.rule_no
      and w.starts_at = h.starts_at;
  update budget_hold set amount = spent_ where org_id = book and owner = owner_;
  update budget_reservation set state = case when spent_ = 0 then 'released' else 'committed' end, committed = spent_, ended_at = at
    where org_id = book and owner = owner_;
  return true;
end $$;

-- Gives back a part of what was spent, in the windows where it was spent. `refund` names it: asked again it changes nothing.
create function budget_refund(book text, owner_ text, refund_ text, amount_ numeric, at timestamptz) returns boolean
  language plpgsql as $$
declare
  known budget_reservation;
begin
  perform 1 from budget_window w join budget_hold h using (org_id, budget_id, rule_no, starts_at)
    where h.org_id = book and h.owner = owner_ order by w.budget_id, w.rule_no for update of w;
  select * into known from budget_reservation where org_id = book and owner = owner_ for update;
  if not found or known.state <> 'committed' then return false; end if;
  insert into budget_refund (org_id, owner, refund, amount, refunded_at) values (book, owner_, refund_, amount_, at) on conflict do nothing;
  if not found then return true; end if;
  if amount_ > known.committed then raise exception 'more is given back than was spent' using errcode = 'check_violation'; end if;
  update budget_window w set spent = w.spent - amount_
    from budget_hold h
    where h.org_id = book and h.owner = owner_ and w.org_id = book and w.budget_id = h.budget_id and w.rule_no = h.rule_no
      and w.starts_at = h.starts_at;
  update budget_hold set amount = amount - amount_ where org_id = book and owner = owner_;
  update budget_reservation set committed = committed - amount_ where org_id = book and owner = owner_;
  return true;
end $$;

-- A new budget that counts from the start of its windows: what the subject has spent there since is held in them too.
create function budget_count_earlier(book text, budget_ text, subject text, at timestamptz) returns void language plpgsql as $$
declare
  r budget_rule;
  n record;
begin
  for r in select * from budget_rule where org_id = book and budget_id = budget_ and is_active order by rule_no loop
    select * into n from budget_window_at(r, at);
    insert into budget_window (org_id, budget_id, rule_no, starts_at, ends_at)
      values (book, budget_, r.rule_no, n.starts_at, n.ends_at) on conflict do nothing;
    insert into budget_hold (org_id, owner, budget_id, rule_no, starts_at, held_at, amount)
      select book, v.owner, budget_, r.rule_no, n.starts_at, v.held_at, case when v.state = 'held' then v.amount else v.committed end
      from budget_reservation v
      where v.org_id = book and subject = any(v.subjects)
        and v.held_at >= case when r.kind = 'rolling' then at - make_interval(secs => r.duration) else n.starts_at end
      order by v.owner for update;
    update budget_window w set (reserved, spent) = (
      select coalesce(sum(h.amount) filter (where v.state = 'held'), 0), coalesce(sum(h.amount) filter (where v.state <> 'held'), 0)
      from budget_hold h join budget_reservation v using (org_id, owner)
      where h.org_id = book and h.budget_id = budget_ and h.rule_no = r.rule_no)
    where w.org_id = book and w.budget_id = budget_ and w.rule_no = r.rule_no and w.starts_at = n.starts_at;
  end loop;
end $$;

-- Windows whose columns are not the sum of what counts in them. Empty on every day.
create function budget_differences(book text) returns table (budget_id text, rule_no integer, starts_at timestamptz)
  language sql stable as $$
  select w.budget_id, w.rule_no, w.starts_at from budget_window w
  left join lateral (
    select coalesce(sum(h.amount) filter (where r.state = 'held'), 0) as reserved,
      coalesce(sum(h.amount) filter (where r.state <> 'held'), 0) as spent
    from budget_hold h join budget_reservation r using (org_id, owner)
    where h.org_id = w.org_id and h.budget_id = w.budget_id and h.rule_no = w.rule_no and h.starts_at = w.starts_at) f on true
  where w.org_id = book and (w.reserved, w.spent) is distinct from (f.reserved, f.spent)
$$;

do $$
declare
  t text;
begin
  foreach t in array array['budget', 'budget_rule', 'budget_window', 'budget_reservation', 'budget_hold', 'budget_refund', 'budget_threshold'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
    execute format('create policy worker_works on %I to strongroom_worker using (true) with check (true)', t);
    execute format('grant select, insert, update on %I to strongroom_app, strongroom_worker', t);
  end loop;
end $$;
