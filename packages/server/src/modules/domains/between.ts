import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { dropLease, finishIdempotent, isLease, type Lease, renewLease } from '../../http/idempotency.ts'

// PowerDNS is asked between two transactions: the first claims the idempotency key of the request, before anybody is asked, and the second
// keeps the answer for it.

/** Longer than PowerDNS may take for all that it is asked, and the database afterwards. */
const LEASE_MS = 30_000

interface Steps<Begun, There, Answer> {
  begin(ctx: TxCtx): Promise<Begun>
  /** Outside of any transaction. */
  there(begun: Begun): Promise<There>
  finish(ctx: TxCtx, begun: Begun, there: There): Promise<Answer>
}

type Opened<Begun, Answer> =
  | { readonly begun: Begun; readonly lease: Lease }
  /** It was done before. */
  | { readonly answer: Answer }

export async function betweenTransactions<Begun, There, Answer>(
  ctx: Ctx,
  { begin, there, finish }: Steps<Begun, There, Answer>,
): Promise<Answer> {
  const { idempotent } = ctx
  const open = async (ctx: TxCtx) => ({
    begun: await begin(ctx),
    lease: { leasedUntil: new Date(ctx.now().getTime() + LEASE_MS).toISOString() },
  })
  const again = async (ctx: TxCtx, kept: unknown): Promise<Opened<Begun, Answer>> => {
    if (!isLease(kept)) return { answer: kept as Answer }
    const opened = await open(ctx)
    if (idempotent) await renewLease(ctx, idempotent, opened.lease)
    return opened
  }
  const opened = await transact<Opened<Begun, Answer>>(ctx, open, {
    replay: { kept: (result) => ('lease' in result ? result.lease : result.answer), again },
  })
  if ('answer' in opened) return opened.answer
  const afterwards: Ctx = { ...ctx, idempotent: undefined }
  try {
    const found = await there(opened.begun)
    return await transact(afterwards, async (ctx) => {
      const answer = await finish(ctx, opened.begun, found)
      if (idempotent) await finishIdempotent(ctx, idempotent, answer)
      return answer
    })
  } catch (error) {
    // If not even that can be written, the lease ends by itself.
    if (idempotent) await transact(afterwards, (ctx) => dropLease(ctx, idempotent, opened.lease)).catch(() => undefined)
    throw error
  }
}
