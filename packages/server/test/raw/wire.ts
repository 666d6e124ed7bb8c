import { createConnection } from 'node:net'

// HTTP by hand: bytes out, answers in. Nothing here repairs what a case breaks.

export interface Answer {
  readonly status: number
  /** Lower-case names; every value a header came with. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: string
}

export interface Exchange {
  readonly answers: readonly Answer[]
  /** The server ended the connection. */
  readonly closed: boolean
}

export interface Sending {
  readonly port: number
  readonly bytes: Buffer
  /** How many answers to wait for; more than these are read only if the server closes. */
  readonly answers: number
  /** Which of the answers have no body although they name a length. */
  readonly isHead?: boolean
  /** End our side after sending. */
  readonly half?: boolean
  /** Wait until the server has ended its side. */
  readonly untilClosed?: boolean
}

/** Only ends what hangs: a busy machine is slow, not wrong. */
const HANGS_MS = 60_000

export function exchange({ port, bytes, answers: wanted, isHead, half, untilClosed }: Sending): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true })
    const answers: Answer[] = []
    let rest = Buffer.alloc(0)
    let closed = false
    const settle = (): void => {
      if (!closed && (untilClosed || answers.length < wanted)) return
      clearTimeout(alarm)
      socket.destroy()
      resolve({ answers, closed })
    }
    const alarm = setTimeout(() => {
      socket.destroy()
      reject(new Error(`${answers.length} answers, then ${JSON.stringify(rest.toString('latin1').slice(0, 400))}`))
    }, HANGS_MS)
    socket.on('data', (chunk: Buffer) => {
      rest = takeAnswers(Buffer.concat([rest, chunk]), isHead ?? false, answers)
      settle()
    })
    const onClosed = (): void => {
      closed = true
      settle()
    }
    socket.on('end', onClosed)
    // A server that has refused a large body resets what still comes.
    socket.on('error', onClosed)
    socket.on('connect', () => (half ? socket.end(bytes) : socket.write(bytes)))
  })
}

/** Moves whole answers from the bytes to the list, and gives what is left. */
function takeAnswers(bytes: Buffer<ArrayBuffer>, isHead: boolean, answers: Answer[]): Buffer<ArrayBuffer> {
  let rest = bytes
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return rest
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = headersOf(lines)
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(`${line} `)?.[1] ?? Number.NaN)
    const length = isHead || status === 100 ? 0 : Number(headers.get('content-length')?.[0] ?? 0)
    if (rest.length < end + 4 + length) return rest
    answers.push({ status, headers, body: rest.subarray(end + 4, end + 4 + length).toString('utf8') })
    rest = rest.subarray(end + 4 + length)
  }
}

function headersOf(lines: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(line) ?? []
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value])
  }
  return headers
}
