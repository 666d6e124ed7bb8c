-- A licence whose termination has come to a stop ends with its period all the same, and its end can be asked for in another way.

-- The termination that was asked for instead of one that failed.
alter table license_termination add column replaced_by text;

drop index license_termination_runs_once;
create unique index license_termination_runs_once on license_termination (org_id, instance_id)
  where state <> 'completed' and replaced_by is null;

drop index license_instance_ending;
create index license_instance_ending on license_instance (period_end)
  where status in ('active', 'terminating') and period_end is not null;
