import { connect, type Socket } from 'node:net'

// The load, from a process of its own: connections that stay open, each asking again as soon as it is answered. It reads of an
// answer only its status and its length, to leave the processors to what is measured.

export interface Load {
  readonly port: number
  readonly connections: number
  readonly milliseconds: number
  /** Complete requests, taken in turn. */
  readonly requests: readonly string[]
}

export interface LoadResult {
  readonly answers: Readonly<Record<number, number>>
  readonly bodyBytes: number
  readonly seconds: number
}

interface Run {
  readonly load: Load
  readonly requests: readonly Buffer[]
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

function ask(run: Run, socket: Socket): void {
  socket.write(run.requests[run.next++ % run.requests.length] as Buffer)
}

/** One connection until the time is over; a server that closes it gets a new one. */
function keepAsking(run: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = (): void => {
      const socket = connect({ host: '127.0.0.1', port: run.load.port, noDelay: true })
      let rest: Buffer = Buffer.alloc(0)
      socket.once('connect', () => ask(run, socket))
      socket.once('error', reject)
      socket.on('data', (chunk) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        const answer = parse(rest)
        if (!answer) return
        rest = rest.subarray(answer.totalBytes)
        run.answers[answer.status] = (run.answers[answer.status] ?? 0) + 1
        run.bodyBytes += answer.bodyBytes
        const isOver = performance.now() >= run.end
        if (!isOver && !answer.closes) return ask(run, socket)
        socket.destroy()
        if (isOver) resolve()
        else open()
      })
    }
    open()
  })
}

async function apply(load: Load): Promise<LoadResult> {
  const start = performance.now()
  const run: Run = {
    load,
    requests: load.requests.map((text) => Buffer.from(text, 'latin1')),
    answers: {},
    bodyBytes: 0,
    next: 0,
    end: start + load.milliseconds,
  }
  await Promise.all(Array.from({ length: load.connections }, () => keepAsking(run)))
  return { answers: run.answers, bodyBytes: run.bodyBytes, seconds: (performance.now() - start) / 1000 }
}

process.on('message', (load: Load) => {
  void apply(load).then((result) => process.send?.(result))
})
