import { makeRandomText } from '../secrets/random-text.ts'

// W3C trace context: a valid `traceparent` is taken up, everything else starts a trace of its own.

export interface TraceContext {
  readonly traceId: string
  readonly parentSpanId: string | undefined
  readonly sampled: boolean
}

const randomHex = makeRandomText((random) => random.toString('hex'))

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

export function readTraceContext(header: string | string[] | undefined): TraceContext {
  const [, version, traceId, parentSpanId, flags, rest] = (typeof header === 'string' && TRACEPARENT.exec(header)) || []
  const valid =
    traceId !== undefined &&
    parentSpanId !== undefined &&
    version !== 'ff' &&
    !(version === '00' && rest !== undefined) &&
    !ZEROS.test(traceId) &&
    !ZEROS.test(parentSpanId)
  if (!valid) return { traceId: randomHex(32), parentSpanId: undefined, sampled: true }
  return { traceId, parentSpanId, sampled: (Number.parseInt(flags ?? '00', 16) & 1) === 1 }
}

export const makeSpanId = (): string => randomHex(16)
