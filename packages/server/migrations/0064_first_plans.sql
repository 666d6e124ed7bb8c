-- Until a table is analysed for the first time, PostgreSQL takes every organisation to have a row or two in it. Then every index that begins
-- with the organisation is as good as any other, and a statement that keeps its plan, such as the check of a foreign key, may keep one that
-- reads everything the organisation has. So we say what is nearer the truth: all of a table is one organisation's. The first analysis,
-- which follows the first fifty rows within a minute or so, replaces it. Before PostgreSQL 18 there is no way to say it.
do $$
declare
  t text;
begin
  if to_regproc('pg_catalog.pg_restore_attribute_stats') is null then return; end if;
  for t in
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname = 'strongroom' and c.relkind = 'r' and c.reltuples < 0 and a.attname = 'org_id' and not a.attisdropped
  loop
    perform pg_restore_attribute_stats('schemaname', 'strongroom', 'relname', t, 'attname', 'org_id', 'inherited', false,
      'null_frac', 0::real, 'avg_width', 27, 'n_distinct', 1::real);
  end loop;
end $$;
