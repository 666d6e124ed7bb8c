import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

// The structured log. Only the members named here are ever written, whoever logs: a list of what may stay, since a list of what
// must go is never complete. Nothing a caller sent is among them.

const ALLOWED = [
  'event',
  'requestId',
  'route',
  'status',
  'code',
  'durationMs',
  'principal',
  'name',
  'count',
  'stack',
] as const
const MAX_LENGTH = 200
const STACK_FRAMES = 6

function clean(name: (typeof ALLOWED)[number], value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  // The first lines of a stack are the message of the error, and that can quote input.
  if (name === 'stack')
    return value
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, STACK_FRAMES)
      .join('\n')
  return value.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_LENGTH)
}

function allowed(entry: unknown): Record<string, unknown> {
  if (typeof entry !== 'object' || entry === null) return {}
  const members = entry as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    ALLOWED.flatMap((name) => (members[name] === undefined ? [] : [[name, clean(name, members[name])]])),
  )
}

export const makeLog = ({ logLevel }: Pick<Config, 'logLevel'>, destination?: DestinationStream): Logger => {
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: {
      // Free text is dropped too: it is where values get pasted into.
      logMethod(this: Logger, [entry]: unknown[], method: (entry: object) => void) {
        method.apply(this, [allowed(entry)])
      },
    },
  }
  return destination ? pino(options, destination) : pino(options)
}
