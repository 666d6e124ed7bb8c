import { inOrg } from '../context.ts'
import { listOrgs, type OperatorDeps } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

export interface KnownOrg {
  readonly orgId: string
  readonly name: string
  readonly createdAt: Date
}

/** Every organisation of this server. */
export async function knownOrgs(deps: OperatorDeps): Promise<readonly KnownOrg[]> {
  const orgs: KnownOrg[] = []
  for (const orgId of await deps.database.kysely.transaction().execute(listOrgs))
    orgs.push(
      await inOrg(deps, orgId, (db) =>
        db
          .selectFrom('org')
          .select(['org_id as orgId', 'name', 'created_at as createdAt'])
          .where('org_id', '=', orgId)
          .executeTakeFirstOrThrow(),
      ),
    )
  return orgs
}

/** By id or name; where there is one only, it need not be named. */
export async function findOrg(deps: OperatorDeps, asked: string | undefined): Promise<KnownOrg> {
  const all = await knownOrgs(deps)
  const found = all.filter(({ orgId, name }) => asked === undefined || orgId === asked || name === asked)
  const [only] = found
  if (only && found.length === 1) return only
  const candidates = (found.length > 0 ? found : all).map(({ orgId, name }) => `${name} (${orgId})`).join(', ')
  if (found.length > 1)
    throw new OperatorError('org_ambiguous', `several organisations are meant: ${candidates}`, 'give --org with an id')
  throw new OperatorError(
    'org_not_found',
    asked === undefined ? 'this server has no organisation yet' : `there is no organisation ${asked}`,
    asked === undefined ? 'make it: strongroom init' : `there are: ${candidates}`,
  )
}
