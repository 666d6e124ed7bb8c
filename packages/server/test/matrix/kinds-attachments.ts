import { inOrg } from '../../src/context.ts'
import type { Kind } from './kinds.ts'
import { VAULT_RELATIONS } from './kinds-vaults.ts'
import type { Relation } from './relations.ts'
import type { Standing } from './vault-set.ts'

const STANDING: Partial<Record<Relation, Standing>> = {
  writer: 'write',
  reader: 'read',
  'no-access': 'hidden',
  archived: 'archived',
  'parent-mismatch': 'second',
}

/** An upload into the vault of its relation, by the caller; `moved-away`: the same by somebody else. */
const upload: Kind = {
  relations: [...VAULT_RELATIONS, 'parent-mismatch', 'moved-away'],
  make: async (world, { place, relation, caller }) => {
    const { deps } = world.h
    const uploadId = deps.newId('upl')
    const at = deps.now()
    await inOrg(deps, place.orgId, (db) =>
      db
        .insertInto('attachment_upload')
        .values({
          org_id: place.orgId,
          upload_id: uploadId,
          vault_id: world.vaultsOf(place)[STANDING[relation] ?? 'admin'].vaultId,
          object_key: deps.newId('obj'),
          storage_id: 'disk',
          status: 'open',
          created_by: relation === 'moved-away' ? 'user:somebody' : caller.id,
          created_at: at,
          changed_at: at,
        })
        .execute(),
    )
    return uploadId
  },
  absent: ({ h }) => h.deps.newId('upl'),
  malformed: 'no!id',
  personal: [...VAULT_RELATIONS, 'parent-mismatch', 'moved-away'],
}

export const ATTACHMENT_KINDS = { upload } as const satisfies Record<string, Kind>
