import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { parseNetwork } from '../src/outside/addresses.ts'
import type { EgressPolicy } from '../src/outside/egress.ts'

// Somebody who is told of things: keeps every request as it came and answers as a test says.

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly at: number
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** How the requests from now on are answered; with 204 if nobody says. */
  answer(by: (response: ServerResponse, request: Received) => void): void
  close(): void
}

/** A policy that reaches this machine, for receivers of tests. */
export const toLoopback = (nameServers: readonly string[] = []): EgressPolicy => ({
  allowed: [parseNetwork('127.0.0.1/32')].filter((network) => network !== undefined),
  ownHosts: [],
  nameServers,
})

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let by: (response: ServerResponse, request: Received) => void = (response) => response.writeHead(204).end()
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    response.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { url: path = '', headers } = request
      const one = { path, headers, body: Buffer.concat(chunks), at: Date.now() }
      received.push(one)
      by(response, one)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    received,
    answer: (next) => {
      by = next
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
