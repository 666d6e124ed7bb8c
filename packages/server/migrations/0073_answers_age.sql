-- Answers to requests that named a key are kept for thirty days. Whoever removes them sees whose they are and how old, not what they say.

revoke all on idempotency from strongroom_worker;
grant select (org_id, principal, key_hash, created_at), delete on idempotency to strongroom_worker;
create policy worker_sees on idempotency for select to strongroom_worker using (true);
create policy worker_removes on idempotency for delete to strongroom_worker using (true);
