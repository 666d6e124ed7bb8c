// What answers at an address: a Strongroom server, something else, or nothing.

export type Probed =
  | { readonly kind: 'strongroom'; readonly isSetUp: boolean; readonly clockMs: number | undefined }
  | { readonly kind: 'other' }
  | { readonly kind: 'nothing'; readonly reason: string }

const PATIENCE_MS = 4000

/** Codes of sockets that mean that nobody listens there. */
const NOBODY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

export async function probe(url: string, patienceMs: number = PATIENCE_MS): Promise<Probed> {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, '')}/api/v1/platform/setup`, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'manual',
    })
    const body = (await answer.json().catch(() => undefined)) as { needed?: unknown } | undefined
    if (typeof body?.needed !== 'boolean' || !answer.headers.has('x-request-id')) return { kind: 'other' }
    const at = Date.parse(answer.headers.get('date') ?? '')
    return { kind: 'strongroom', isSetUp: !body.needed, clockMs: Number.isNaN(at) ? undefined : at }
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    const isNobody = code !== undefined && NOBODY.has(code)
    // Whoever takes a connection and then says nothing, or not HTTP, is there all the same.
    return isNobody ? { kind: 'nothing', reason: code } : { kind: 'other' }
  }
}
