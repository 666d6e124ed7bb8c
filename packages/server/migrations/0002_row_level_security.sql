-- Row-level security for every table with an organisation, forced so that it holds for the owner too.

do $$
declare
  t text;
begin
  for t in
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname = 'strongroom' and c.relkind = 'r' and a.attname = 'org_id' and not a.attisdropped
  loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy own_org on %I using (org_id = current_org()) with check (org_id = current_org())', t);
  end loop;
end $$;

-- Who asks is found before the organisation is known. These two let a transaction see exactly the one row whose public
-- half it has named, and the people and agents behind it are then read under its organisation.
create policy named_key on api_key for select using (access_key = nullif(current_setting('app.access_key', true), ''));
create policy named_session on session for select using (token_hash = decode(nullif(current_setting('app.token_hash', true), ''), 'hex'));
create policy named_login on org_user for select using (lower(email) = nullif(current_setting('app.login', true), ''));
-- The operator's own work names every organisation in turn.
create policy operator_lists on org for select using (current_setting('app.operator', true) = 'yes');

grant usage on schema strongroom to strongroom_app, strongroom_worker;
grant select, insert, update, delete on all tables in schema strongroom to strongroom_app, strongroom_worker;
grant usage on all sequences in schema strongroom to strongroom_app, strongroom_worker;
-- What is recorded stays as it was recorded.
revoke update, delete on audit_event, audit_seal, log_leaf, log_node, log_document, log_checkpoint, vault_activity_event from strongroom_app, strongroom_worker;
-- Old telemetry is the worker's to remove.
revoke update, delete on request_event, metric_minute from strongroom_app;
