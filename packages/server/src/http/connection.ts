import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

// For answers that go on while something happens: when they are over, and whether they may still go on.

export interface Connection {
  /** Aborted when the caller goes away, or when the server stops. */
  readonly ended: AbortSignal
  /** Whether the same request would still be let in now: a revoked credential ends its streams. */
  stillAdmitted(): Promise<boolean>
  readonly lastEventId: string | undefined
  /** Whether anybody is still there to be answered. */
  isOpen(): boolean
}

export interface Connections {
  open(request: FastifyRequest, reply: FastifyReply, admitAgain: () => Promise<unknown>): Connection
}

export function makeConnections(app: FastifyInstance): Connections {
  const open = new Set<AbortController>()
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
    for (const controller of open) controller.abort()
  })
  return {
    open: (request, reply, admitAgain) => {
      const controller = new AbortController()
      open.add(controller)
      // A listener whose stream has ended comes back over the same connection, and would keep the server from stopping.
      if (isStopping) controller.abort()
      reply.raw.once('close', () => {
        open.delete(controller)
        controller.abort()
      })
      return {
        ended: controller.signal,
        stillAdmitted: () => succeeds(admitAgain),
        lastEventId: lastEventId(request),
        isOpen: () => !request.raw.socket.destroyed,
      }
    },
  }
}

async function succeeds(admitAgain: () => Promise<unknown>): Promise<boolean> {
  try {
    await admitAgain()
    return true
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return false
    throw error
  }
}

const EVENT_ID = /^[0-9]{1,15}(?:-[0-9]{1,15})?$/

/** What is no id of ours is as if it were not there: browsers send it by themselves. */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const text = headers['last-event-id']
  return typeof text === 'string' && EVENT_ID.test(text) ? text : undefined
}
