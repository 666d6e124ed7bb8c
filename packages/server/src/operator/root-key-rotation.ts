import { sql } from 'kysely'
import { outsideOrgs } from '../context.ts'
import type { RootKey } from '../secrets/root-key.ts'
import { listOrgs, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'

/**
 * Seals every secret of the server anew, all of them or none; what the new root key opens already stays, so that a broken run
 * can be repeated. No API key, no passphrase and no log key changes. Servers still running on the old root key are to be
 * stopped before and started with the new one after: they keep serving what they have opened, and open nothing else.
 */
export async function rotateRootKey(
  deps: OperatorDeps,
  oldRoot: RootKey,
  newRoot: RootKey,
): Promise<{ resealed: number }> {
  return outsideOrgs(deps, async (db) => {
    // No server may add a secret under the old key meanwhile.
    await sql`lock table server_secret in share row exclusive mode`.execute(db)
    const secrets = await db.selectFrom('server_secret').select(['name', 'sealed']).orderBy('name').execute()
    let resealed = 0
    for (const { name, sealed } of secrets) {
      if (newRoot.open(name, sealed)) continue
      const secret = oldRoot.open(name, sealed)
      if (!secret)
        throw new OperatorError(
          'root_key_wrong',
          `neither root key opens the secret ${name}`,
          'give the root key the server last ran with',
        )
      await db
        .updateTable('server_secret')
        .set({ sealed: newRoot.seal(name, secret) })
        .where('name', '=', name)
        .execute()
      resealed++
    }
    for (const orgId of await listOrgs(db))
      await recordOperator(deps, db, orgId, { action: 'operator.rotate-root-key', metadata: { resealed } })
    return { resealed }
  })
}
