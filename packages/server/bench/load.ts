import { connect, type Socket } from 'node:net'

// The load, from a process of its own: connections that stay open, each asking again as soon as it is answered, or as often as it is
// told to. It reads of an answer only its status and its length, to leave the processors to what is measured.

export interface Load {
  readonly port: number
  readonly connections: number
  readonly milliseconds: number
  /** Complete requests, taken in turn. */
  readonly requests: readonly string[]
  /** Instead: for each connection its own, in their order; it ends where they do. */
  readonly chains?: readonly (readonly string[])[]
  /** How often all connections ask together, at most; otherwise as often as they are answered. */
  readonly perSecond?: number
}

/** Instead of a load: the one under way ends as if its time were over. */
export interface Enough {
  readonly enough: true
}

export interface LoadResult {
  readonly answers: Readonly<Record<number, number>>
  readonly bodyBytes: number
  readonly seconds: number
  /** Of each chain, how many requests were answered. */
  readonly taken: readonly number[]
}

/** What comes next in a chain follows what comes now, so a request that is told to come again comes again. */
const OVERLOADED = 503
const AGAIN_MS = 50

interface Run {
  readonly load: Load
  readonly requests: readonly Buffer[]
  readonly chains: readonly (readonly Buffer[])[] | undefined
  readonly taken: number[]
  readonly answers: Record<number, number>
  bodyBytes: number
  next: number
  readonly start: number
  end: number
}

interface Answer {
  readonly status: number
  readonly bodyBytes: number
  readonly totalBytes: number
  readonly closes: boolean
}

/** undefined until the whole answer is there. */
function parse(bytes: Buffer): Answer | undefined {
  const headBytes = bytes.indexOf('\r\n\r\n') + 4
  if (headBytes < 4) return undefined
  const head = bytes.toString('latin1', 0, headBytes).toLowerCase()
  const bodyBytes = Number(/\r\ncontent-length: ([0-9]+)/.exec(head)?.[1])
  if (Number.isNaN(bodyBytes)) throw new Error(`an answer without a length: ${head}`)
  if (bytes.length < headBytes + bodyBytes) return undefined
  const closes = head.includes('\r\nconnection: close')
  return { status: Number(head.slice(9, 12)), bodyBytes, totalBytes: headBytes + bodyBytes, closes }
}

/** undefined where a chain is at its end. */
const nextRequest = (run: Run, connection: number): Buffer | undefined =>
  run.chains ? run.chains[connection]?.[run.taken[connection] as number] : run.requests[run.next % run.requests.length]

function ask(run: Run, socket: Socket, connection: number): void {
  socket.write(nextRequest(run, connection) as Buffer)
  run.next++
}

/** How long a connection waits before it asks again. All ask at the same moment: of the ways to be asked seldom that were tried it costs a server least. */
function waitOf({ load: { perSecond, connections }, taken, start }: Run, connection: number): number {
  if (perSecond === undefined) return 0
  return start + ((taken[connection] as number) * connections * 1000) / perSecond - performance.now()
}

function askInTime(run: Run, socket: Socket, connection: number): void {
  const ms = waitOf(run, connection)
  if (ms <= 0) ask(run, socket, connection)
  else setTimeout(() => ask(run, socket, connection), ms)
}

/** One connection until the time is over; a server that closes it gets a new one. */
function keepAsking(run: Run, connection: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = (): void => {
      const socket = connect({ host: '127.0.0.1', port: run.load.port, noDelay: true })
      let rest: Buffer = Buffer.alloc(0)
      socket.once('connect', () => askInTime(run, socket, connection))
      socket.once('error', reject)
      socket.on('data', (chunk) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        const answer = parse(rest)
        if (!answer) return
        rest = rest.subarray(answer.totalBytes)
        run.answers[answer.status] = (run.answers[answer.status] ?? 0) + 1
        if (run.chains && answer.status === OVERLOADED) {
          setTimeout(() => ask(run, socket, connection), AGAIN_MS)
          return
        }
        run.bodyBytes += answer.bodyBytes
        run.taken[connection] = (run.taken[connection] as number) + 1
        const isOver = performance.now() >= run.end || nextRequest(run, connection) === undefined
        if (!isOver && !answer.closes) return askInTime(run, socket, connection)
        socket.destroy()
        if (isOver) resolve()
        else open()
      })
    }
    open()
  })
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

let current: Run | undefined

async function apply(load: Load): Promise<LoadResult> {
  const start = performance.now()
  const run: Run = {
    load,
    requests: load.requests.map(bytesOf),
    chains: load.chains?.map((chain) => chain.map(bytesOf)),
    taken: Array.from({ length: load.connections }, () => 0),
    answers: {},
    bodyBytes: 0,
    next: 0,
    start,
    end: start + load.milliseconds,
  }
  current = run
  await Promise.all(Array.from({ length: load.connections }, (_, connection) => keepAsking(run, connection)))
  const { answers, bodyBytes, taken } = run
  return { answers, bodyBytes, taken, seconds: (performance.now() - start) / 1000 }
}

process.on('message', (said: Load | Enough) => {
  if (!('enough' in said)) void apply(said).then((result) => process.send?.(result))
  else if (current) current.end = performance.now()
})
