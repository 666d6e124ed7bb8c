// Asking a node of the chain. Its address is the operator's and may carry a key: no error says where it was or what the network said.

export type RpcFailure =
  /** No answer, or none that can be read. */
  | 'unreachable'
  /** The node answered with an error: too many logs, a block it does not know. */
  | 'refused'
  /** Two of its answers do not go together: the chain changed while it was asked. */
  | 'changed'

export class RpcError extends Error {
  override name = 'RpcError'
  readonly failure: RpcFailure
  readonly method: string
  constructor(failure: RpcFailure, method: string) {
    super(`the node of the chain: ${failure} (${method})`)
    this.failure = failure
    this.method = method
  }
}

export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>

const TIMEOUT_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

async function readBounded(response: Response, method: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new RpcError('refused', method)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Answer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

async function exchange(url: string, method: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, init)
    return (JSON.parse(await readBounded(response, method)) ?? {}) as Answer
  } catch (error) {
    throw error instanceof RpcError ? error : new RpcError('unreachable', method)
  }
}

/** One node. `signal` ends what is under way when the server stops. */
export function makeRpc(url: string, signal?: AbortSignal): Rpc {
  let last = 0
  return async (method, params) => {
    last += 1
    const id = last
    const late = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await exchange(url, method, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      redirect: 'error',
      signal: signal ? AbortSignal.any([late, signal]) : late,
    })
    if (answer.error !== undefined) throw new RpcError('refused', method)
    if (answer.id !== id || answer.result === undefined) throw new RpcError('unreachable', method)
    return answer.result
  }
}
