import { connect, type Socket } from 'node:net'

// The load, from a process of its own: connections that stay open, each asking again as soon as it is answered. It reads of an
// answer only its status and its length, to leave the processors to what is measured.

export interface Load {
  readonly port: number
  readonly connections: number
  readonly milliseconds: number
  /** Complete requests, taken in turn. */
  readonly requests: readonly string[]
  /** Instead: for each connection its own, in their order; it ends where they do. */
  readonly chains?: readonly (readonly string[])[]
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
  readonly end: number
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

/** One connection until the time is over; a server that closes it gets a new one. */
function keepAsking(run: Run, connection: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = (): void => {
      const socket = connect({ host: '127.0.0.1', port: run.load.port, noDelay: true })
      let rest: Buffer = Buffer.alloc(0)
      socket.once('connect', () => ask(run, socket, connection))
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
        if (!isOver && !answer.closes) return ask(run, socket, connection)
        socket.destroy()
        if (isOver) resolve()
        else open()
      })
    }
    open()
  })
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

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
    end: start + load.milliseconds,
  }
  await Promise.all(Array.from({ length: load.connections }, (_, connection) => keepAsking(run, connection)))
  const { answers, bodyBytes, taken } = run
  return { answers, bodyBytes, taken, seconds: (performance.now() - start) / 1000 }
}

process.on('message', (load: Load) => {
  void apply(load).then((result) => process.send?.(result))
})
