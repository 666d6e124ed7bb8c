-- Whose turn it is to change a vault. A writer that was told of a newer head has a moment in which nobody else goes first, also
-- through other processes of the server. Nothing rests on it but fairness: the head that a commit follows is compared under the
-- lock of the log in any case. So it need not outlive a crash, and is not written to the write-ahead log.

create unlogged table vault_turn (
  org_id   text not null,
  vault_id text not null,
  turn_id  text not null,
  ends_at  timestamptz not null,
  primary key (org_id, vault_id)
);

alter table vault_turn enable row level security;
alter table vault_turn force row level security;
create policy own_org on vault_turn using (org_id = current_org()) with check (org_id = current_org());
grant select, insert, update, delete on vault_turn to strongroom_app;
grant select on vault_turn to strongroom_worker;

-- One statement each, outside of any transaction. The clock is the database's: processes may be on several machines.

-- True if the turn is the caller's from now on: nobody had it, or it had lapsed.
create function take_vault_turn(org text, vault text, turn text, ms integer) returns boolean
language plpgsql set plan_cache_mode = 'force_generic_plan' as $$
begin
  perform set_config('app.org', org, true);
  insert into vault_turn as t (org_id, vault_id, turn_id, ends_at)
  values (org, vault, turn, clock_timestamp() + ms * interval '1 millisecond')
  on conflict (org_id, vault_id) do update set turn_id = excluded.turn_id, ends_at = excluded.ends_at
  where t.ends_at < clock_timestamp();
  return found;
end $$;

-- True if the turn is still the caller's.
create function has_vault_turn(org text, vault text, turn text) returns boolean
language plpgsql set plan_cache_mode = 'force_generic_plan' as $$
begin
  perform set_config('app.org', org, true);
  return exists (
    select from vault_turn
    where org_id = org and vault_id = vault and turn_id = turn and ends_at > clock_timestamp()
  );
end $$;

create function end_vault_turn(org text, vault text, turn text) returns void
language plpgsql set plan_cache_mode = 'force_generic_plan' as $$
begin
  perform set_config('app.org', org, true);
  delete from vault_turn where org_id = org and vault_id = vault and turn_id = turn;
end $$;

grant execute on function take_vault_turn(text, text, text, integer) to strongroom_app;
grant execute on function has_vault_turn(text, text, text) to strongroom_app;
grant execute on function end_vault_turn(text, text, text) to strongroom_app;
