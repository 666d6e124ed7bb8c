import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { fanOut } from '../../outbox/fan-out.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { makeSender, type SenderOptions } from './deliver.ts'
import { removeOld } from './delivery-store.ts'

const FAN_OUT_EVERY_MS = 250
const SEND_EVERY_MS = 500
const SWEEP_EVERY_MS = 600_000
/** As long as history is kept. */
const KEPT_MS = 30 * 86_400_000

/** Fans out and sends until nothing is due: what the background does, in one go. */
export async function deliverAll(deps: Deps, worker: Database): Promise<void> {
  const sender = makeSender(deps, worker)
  await fanOut(deps, worker)
  while ((await sender.turn()) > 0 || (await fanOut(deps, worker)) > 0) await sender.idle()
}

export async function sweepWebhooks({ now }: Pick<Deps, 'now'>, worker: Database): Promise<void> {
  const before = new Date(now().getTime() - KEPT_MS)
  const removeBatch = (): Promise<number> => worker.kysely.transaction().execute((db) => removeOld(db, before))
  while ((await removeBatch()) > 0);
}

export function startWebhooks(deps: Deps, worker: Database, options: Pick<SenderOptions, 'timeoutMs'> = {}): Repeating {
  const warn = (event: string) => (error: unknown) => deps.log.warn({ event, code: (error as { code?: string }).code })
  let isAsked = false
  // Who asks while a turn is under way gets another one after it.
  const ask = (): void => {
    isAsked = true
    sending.nudge()
  }
  const sender = makeSender(deps, worker, { ...options, onRoom: ask })
  const send = async (): Promise<void> => {
    do isAsked = false
    while ((await sender.turn()) > 0 || isAsked)
  }
  const sending = repeat(SEND_EVERY_MS, send, warn('webhook_delivery_failed'))
  const fanning = repeat(
    FAN_OUT_EVERY_MS,
    async () => {
      if ((await fanOut(deps, worker)) > 0) ask()
    },
    warn('webhook_fan_out_failed'),
  )
  const sweeping = repeat(SWEEP_EVERY_MS, () => sweepWebhooks(deps, worker), warn('webhook_sweep_failed'))
  return {
    nudge: () => {
      fanning.nudge()
      ask()
    },
    stop: async () => {
      await fanning.stop()
      await sender.stop()
      await Promise.all([sending.stop(), sweeping.stop()])
    },
  }
}
