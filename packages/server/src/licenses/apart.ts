import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer, Errand } from './errand.ts'

// The way to the process that sees secrets of licences in the clear. Memory cannot be wiped by a program like this one, it can only be
// given back: that process is started when something is to be ordered and ended soon after, and this one never sees a secret.

export interface ApartOptions {
  readonly program: string
  readonly idleMs: number
  readonly mostErrands: number
  /** Longer than it waits for anybody itself, shorter than the lease of who asks. */
  readonly patienceMs: number
}

const USUAL: ApartOptions = {
  program: fileURLToPath(new URL(`./apart-process${extname(import.meta.url)}`, import.meta.url)),
  idleMs: 2_000,
  mostErrands: 200,
  patienceMs: 45_000,
}

/** Nothing was asked of anybody. */
const NOT_STARTED: Answer = { kind: 'unavailable', cause: 'sealing_process_not_started' }
/** It may have ordered before it ended. */
const ENDED: Answer = { kind: 'unknown', cause: 'sealing_process_ended' }

/** What an operator tells TLS about authorities; nothing else of the environment is for it. */
const INHERITED = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'SystemRoot'] as const

interface Running {
  readonly child: ChildProcess
  readonly pending: Map<number, (answer: Answer) => void>
  /** False if it ended before it could be asked. */
  readonly isReady: Promise<boolean>
  /** Nobody asks it any more; it goes when it has answered. */
  isRetired: boolean
  errands: number
  idle?: NodeJS.Timeout
}

type Message = { readonly ready: true } | { readonly id: number; readonly answer: Answer }

function settle({ pending }: Running, id: number, answer: Answer): void {
  pending.get(id)?.(answer)
  pending.delete(id)
}

function leave(one: Running): void {
  one.isRetired = true
  clearTimeout(one.idle)
  if (one.pending.size === 0 && one.child.connected) one.child.disconnect()
}

/** Whoever has nothing to wait for is not kept from ending. */
function rest(one: Running, { idleMs, mostErrands }: ApartOptions): void {
  if (one.pending.size > 0) return
  one.child.unref()
  one.child.channel?.unref()
  if (one.isRetired || one.errands >= mostErrands) leave(one)
  else one.idle = setTimeout(leave, idleMs, one).unref()
}

function launch(options: ApartOptions): Running {
  let tell: (isReady: boolean) => void = () => undefined
  const isReady = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  const child = fork(options.program, [], {
    execArgv: [],
    env: Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
    // Nothing of it is ever written anywhere.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    // An interrupt typed at the terminal is for us; it ends when we do.
    detached: true,
  })
  const one: Running = { child, pending: new Map(), isReady, isRetired: false, errands: 0 }
  child.on('message', (message: Message) => {
    if ('ready' in message) return tell(true)
    settle(one, message.id, message.answer)
    rest(one, options)
  })
  for (const event of ['exit', 'error', 'disconnect'])
    child.once(event, () => {
      tell(false)
      for (const id of [...one.pending.keys()]) settle(one, id, ENDED)
      leave(one)
    })
  return one
}

function send(one: Running, errand: Errand, patienceMs: number): Promise<Answer> {
  clearTimeout(one.idle)
  one.errands += 1
  const id = one.errands
  const late = setTimeout(() => one.child.kill('SIGKILL'), patienceMs)
  one.child.ref()
  one.child.channel?.ref()
  return new Promise<Answer>((resolve) => {
    one.pending.set(id, resolve)
    // Whether it was read before the channel broke, nobody knows.
    one.child.send({ ...errand, id }, (error) => error && settle(one, id, ENDED))
  }).finally(() => clearTimeout(late))
}

export type Apart = (errand: Errand) => Promise<Answer>

export function makeApart(options: ApartOptions = USUAL): Apart {
  let running: Running | undefined
  return async (errand) => {
    if (!running || running.isRetired) running = launch(options)
    const one = running
    const canAsk = (await one.isReady) && one.child.connected
    if (one.errands + 1 >= options.mostErrands) one.isRetired = true
    return canAsk ? send(one, errand, options.patienceMs) : NOT_STARTED
  }
}

/** One errand, carried out elsewhere. A process that ends over it leaves its outcome unknown, never failed. */
export const apart = makeApart()
