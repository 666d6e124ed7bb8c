-- A database that comes from a backup: while restored_at is set, nothing is appended to the log but the statement of the directory
-- admins that it was restored (docs/protocol.md 9.4). Beside size and frontier, so that a writer who waited sees the newest of it.

alter table log_state add column restored_at timestamptz;
