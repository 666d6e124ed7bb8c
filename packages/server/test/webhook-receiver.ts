import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { parseNetwork } from '../src/outside/addresses.ts'
import type { EgressPolicy } from '../src/outside/egress.ts'
import type { Certificate } from './certificate.ts'

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

interface Secure extends Certificate, Pick<ServerOptions, 'SNICallback'> {
  readonly name: string
}

/** Over TLS where it has a name of its own; who sends has to find that name at 127.0.0.1. */
export async function startReceiver(secure?: Secure): Promise<Receiver> {
  const received: Received[] = []
  let by: (response: ServerResponse, request: Received) => void = (response) => response.writeHead(204).end()
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
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
  }
  const server: Server = secure ? createSecureServer(secure, receive) : createServer(receive)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: secure ? `https://${secure.name}:${port}` : `http://127.0.0.1:${port}`,
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
