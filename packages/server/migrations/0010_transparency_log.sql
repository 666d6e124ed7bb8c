-- The transparency log as it is written. Whoever appends holds the row of log_state; everything a writer must know before it
-- starts is in that one row, because a statement that waited for the lock sees the newest version of the locked row only.

alter table log_state
  add column origin  text not null default '',
  add column vkey    text not null default '',
  add column last_at bigint not null default 0 check (last_at >= 0);
alter table log_state alter column origin drop default, alter column vkey drop default;

-- A leaf and the checkpoint over it come together or not at all: the checkpoint names its leaf at once, the leaf its checkpoint
-- when the transaction ends. No size has two checkpoints, since size is their key.
alter table log_leaf add column size bigint not null check (size = leaf_index + 1);
alter table log_checkpoint add column leaf_index bigint not null check (leaf_index = size - 1);
alter table log_checkpoint add foreign key (org_id, leaf_index) references log_leaf (org_id, leaf_index);
alter table log_leaf add foreign key (org_id, size) references log_checkpoint (org_id, size) deferrable initially deferred;

-- principal is there for keys, vault_id and kid for grants: what the rules ask for by something else than the name. The key in
-- the map is the hash of the name and is not kept beside it.
alter table map_state drop column map_key;
drop index map_state_kid;
create index map_state_kid on map_state (org_id, kid) where kid is not null;

-- Rows that are changed in place by every append.
alter table log_state set (fillfactor = 50);
alter table map_node set (fillfactor = 70);
alter table map_state set (fillfactor = 80);

-- Nothing of a state ends by being removed: it gets a tombstone.
revoke delete on log_state, map_state, map_node from strongroom_app, strongroom_worker;
