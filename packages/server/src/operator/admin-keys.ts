import { inOrg } from '../context.ts'
import { type IssuedKey, issueKey, revokeKeysOf } from '../modules/api-keys/service.ts'
import { type GlobalAdminKeyRow, globalAdminKeys } from '../modules/api-keys/store.ts'
import { listOrgs, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

const inKnownOrg = <T>(deps: OperatorDeps, orgId: string, work: Parameters<typeof inOrg<T>>[2]): Promise<T> =>
  inOrg(deps, orgId, async (db) => {
    if (!(await listOrgs(db)).includes(orgId))
      throw new OperatorError('org_not_found', `there is no organisation ${orgId}`, 'list them: strongroom admin orgs')
    return work(db)
  })

/** A global-admin-backed key: it holds every machine permission in one organisation and belongs to nobody in it. Shown once. */
export const createGlobalAdminKey = (deps: OperatorDeps, orgId: string): Promise<IssuedKey> =>
  inKnownOrg(deps, orgId, async (db) => {
    const key = await issueKey({ ...deps, db }, orgId, { globalAdmin: true })
    await recordOperator(deps, db, orgId, {
      action: 'operator.create-global-admin-key',
      targets: [{ type: 'api_key', id: key.keyId }],
      metadata: { accessKey: key.accessKey },
    })
    return key
  })

export type GlobalAdminKey = GlobalAdminKeyRow

/** Those that work, the newest first. */
export const listGlobalAdminKeys = (deps: OperatorDeps, orgId: string): Promise<readonly GlobalAdminKey[]> =>
  inKnownOrg(deps, orgId, globalAdminKeys)

/** Ends one of them, or all, in one organisation; answers how many there were. */
export const revokeGlobalAdminKeys = (deps: OperatorDeps, orgId: string, accessKey?: string): Promise<number> =>
  inKnownOrg(deps, orgId, async (db) => {
    const revoked = await revokeKeysOf({ ...deps, db }, orgId, {
      globalAdmin: true,
      ...(accessKey !== undefined && { accessKey }),
    })
    await recordOperator(deps, db, orgId, {
      action: 'operator.revoke-global-admin-keys',
      targets: [],
      metadata: { revoked },
    })
    return revoked
  })
