import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

// A name server of our own, over UDP, that answers as a test tells it, and differently each time if it is told so.

export interface NameServer {
  /** `127.0.0.1:port` */
  readonly address: string
  /** The answers to the next lookups of a name; the last one stays. */
  tell(name: string, ...answers: readonly (readonly string[])[]): void
  asked(name: string): number
  close(): void
}

const [A, AAAA] = [1, 28]

function questionOf(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

const bytesOf = (address: string): Buffer => {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [front, back] = [groups(head), groups(tail ?? '')]
  const middle = tail === undefined ? [] : Array<string>(8 - front.length - back.length).fill('0')
  const bytes = Buffer.alloc(16)
  for (const [i, group] of [...front, ...middle, ...back].entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2)
  return bytes
}

function answerTo(message: Buffer, addresses: readonly string[], isKnown: boolean): Buffer {
  const { type, end } = questionOf(message)
  const fitting = addresses.filter((address) => (address.includes(':') ? AAAA : A) === type)
  const records = fitting.map((address) => {
    const data = bytesOf(address)
    const head = Buffer.alloc(12)
    head.writeUInt16BE(0xc00c, 0)
    head.writeUInt16BE(type, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt32BE(0, 6)
    head.writeUInt16BE(data.length, 10)
    return Buffer.concat([head, data])
  })
  const header = Buffer.from(message.subarray(0, 12))
  header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  header.writeUInt32BE(0, 8)
  return Buffer.concat([header, message.subarray(12, end), ...records])
}

export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const told = new Map<string, (readonly string[])[]>()
  const counts = new Map<string, number>()
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const { name, type } = questionOf(message)
    const answers = told.get(name)
    // Both types are asked at once: the first of them moves on.
    if (type === A) counts.set(name, (counts.get(name) ?? 0) + 1)
    const turn = Math.max(0, (counts.get(name) ?? 1) - 1)
    const addresses = answers?.[Math.min(turn, answers.length - 1)] ?? []
    socket.send(answerTo(message, addresses, answers !== undefined), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    tell: (name, ...answers) => {
      told.set(name, [...answers])
      counts.set(name, 0)
    },
    asked: (name) => counts.get(name) ?? 0,
    close: () => socket.close(),
  }
}
