-- How long each step of an attempt took; null for a step that did not come to its end, or was not needed. And what it was signed with, so
-- that its headers can be shown: a secret that was rotated since could not make the signature again.
alter table webhook_attempt
  add column lookup_ms  integer,
  add column connect_ms integer,
  add column tls_ms     integer,
  add column wait_ms    integer,
  add column signed_at  timestamptz,
  add column signature  text,
  add check ((signed_at is null) = (signature is null));
