import { CliError } from '../errors/cli-error.ts'

// What answers at an address: a Strongroom server, one that cannot work, something else, or nothing.

/** It is there, and says why it does not answer. */
export interface Refusing {
  readonly kind: 'refusing'
  readonly code: string
}
export type Probed =
  | Refusing
  | { readonly kind: 'strongroom'; readonly isSetUp: boolean; readonly clockMs: number | undefined }
  | { readonly kind: 'other' }
  | { readonly kind: 'nothing'; readonly reason: string }

const PATIENCE_MS = 4000

/** Codes of sockets that mean that nobody listens there. */
const NOBODY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

interface Body {
  readonly needed?: unknown
  readonly error?: { readonly code?: unknown; readonly requestId?: unknown }
}

/** What is said in the words of our API, by whoever gave the request its id. */
function refusalIn({ ok, headers }: Response, body: Body | undefined): Refusing | undefined {
  const { code, requestId } = body?.error ?? {}
  if (ok || typeof code !== 'string' || requestId !== headers.get('x-request-id')) return undefined
  return { kind: 'refusing', code }
}

/** What helps with a server that is there. A second one in its place would not. */
export function refusedBy(url: string, { code }: Refusing): CliError {
  const { hostname } = new URL(url)
  if (code === 'wrong_host')
    return new CliError('server_wrong_host', `the server at ${url} does not answer for the name ${hostname}`, {
      fix: `whoever runs it adds ${hostname} to STRONGROOM_HOSTS; a proxy in front has to pass the name on`,
      details: { url, code },
    })
  return new CliError('server_not_ready', `the server at ${url} runs, and cannot work now (${code})`, {
    fix: 'wait; whoever runs it finds the reason in its log, in lines with database_unavailable',
    details: { url, code },
  })
}

/** Refuses where the server says itself that it cannot work. A proxy may keep the question to itself. */
export async function ensureReady(url: string, patienceMs: number): Promise<void> {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' })
  const refusal = refusalIn(answer, (await answer.json().catch(() => undefined)) as Body | undefined)
  if (refusal?.code === 'not_ready') throw refusedBy(url, refusal)
}

export async function probe(url: string, patienceMs: number = PATIENCE_MS): Promise<Probed> {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, '')}/api/v1/platform/setup`, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'manual',
    })
    const body = (await answer.json().catch(() => undefined)) as Body | undefined
    const refusal = refusalIn(answer, body)
    if (refusal) return refusal
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
