-- Agents and their feedback.

-- An archived agent gives its name free.
create unique index agent_name on agent (org_id, tenant_id, name) where status = 'active';

-- How much feedback an agent has sent lately.
create index feedback_of_agent on feedback (org_id, agent_id, created_at desc);

-- The history of migrations is the migrator's alone.
revoke insert, update, delete on migration from strongroom_app, strongroom_worker;
