// JSON-RPC as MCP has it: one message a line. Everything in a line is the word of a client, and is looked at before it is used.

export type Id = string | number

export type Incoming =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** We ask nothing, so an answer is none of ours. */
  | { readonly kind: 'answer' }
  | { readonly kind: 'refused'; readonly id: Id | null; readonly error: RpcError }

export type Params = Readonly<Record<string, unknown>>

export interface RpcError {
  readonly code: number
  readonly message: string
}

export const RPC = {
  unreadable: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  busy: -32000,
} as const

const DEEPEST = 64
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Whether brackets outside of texts are within each other further than any message needs. */
function isTooDeep(line: Uint8Array): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at] ?? 0
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if (OPENING.has(byte)) {
      depth += 1
      if (depth > DEEPEST) return true
    } else if (CLOSING.has(byte)) depth -= 1
  }
  return false
}

const isTable = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

const refused = (code: number, message: string, id: Id | null = null): Incoming => ({
  kind: 'refused',
  id,
  error: { code, message },
})

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch {
    return undefined
  }
}

export const TOO_LONG: Incoming = refused(RPC.invalid, 'the message is too long')

/** What a line says; never what it holds is repeated in a refusal. */
export function readMessage(line: Uint8Array): Incoming {
  if (isTooDeep(line)) return refused(RPC.invalid, 'the message is nested too deeply')
  const message = parsed(line)
  if (message === undefined) return refused(RPC.unreadable, 'this line is not JSON')
  if (!isTable(message)) return refused(RPC.invalid, 'a message is an object, and one line holds one of them')
  const { jsonrpc, id, method, params = {} } = message
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0') return refused(RPC.invalid, 'jsonrpc is not "2.0"', known)
  if (method === undefined && ('result' in message || 'error' in message)) return { kind: 'answer' }
  if (typeof method !== 'string') return refused(RPC.invalid, 'method is missing', known)
  if (!isTable(params)) return refused(RPC.invalidParams, 'params is no object', known)
  if (id === undefined) return { kind: 'notification', method, params }
  if (known === null) return refused(RPC.invalid, 'id is neither text nor a whole number')
  return { kind: 'request', id: known, method, params }
}
