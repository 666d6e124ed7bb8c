import type { FastifyInstance } from 'fastify'
import type { Deps } from '../context.ts'
import { ApiError } from '../errors.ts'

// Whether the process lives, and whether it can work. Everybody may ask, so why it cannot work is said in the log and not in the answer.

const READ_ONLY = '25006'

/** Nearly everything is entered in the audit before it is answered: with a database that takes no writes there is no work. */
async function findHindrance({ database }: Deps): Promise<string | undefined> {
  try {
    const { rows } = await database.pool.query<{ isReadOnly: boolean }>(
      `select current_setting('transaction_read_only')::boolean as "isReadOnly"`,
    )
    return rows[0]?.isReadOnly ? READ_ONLY : undefined
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string }
    return code ?? message
  }
}

export function mountHealth(app: FastifyInstance, deps: Deps): void {
  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    const code = await findHindrance(deps)
    if (code === undefined) return { status: 'ready' }
    deps.log.warn({ event: 'database_unavailable', code })
    throw new ApiError('not_ready', { headers: { 'retry-after': '2' } })
  })
}
