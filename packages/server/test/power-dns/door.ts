import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PowerDnsConfig } from '../../src/config.ts'

// Stands before a PowerDNS: what is asked goes on to it, unless a test says otherwise.

export interface DoorAnswer {
  readonly status: number
  readonly body: string
}

/** What is answered; undefined where the connection just ends. */
export type DoorKeeper = (method: string, pass: () => Promise<DoorAnswer>) => Promise<DoorAnswer | undefined>

export interface Door {
  readonly config: PowerDnsConfig
  /** How the questions from now on are met; they are passed on if nobody says. */
  keep(by?: DoorKeeper): void
  close(): Promise<void>
}

const passing: DoorKeeper = (_, pass) => pass()

export async function startDoor({ url, key }: PowerDnsConfig): Promise<Door> {
  let keeper = passing
  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '' } = request
    const asked: Buffer[] = []
    for await (const chunk of request) asked.push(chunk as Buffer)
    const pass = async (): Promise<DoorAnswer> => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const body = method === 'GET' ? null : Buffer.concat(asked)
      const answer = await fetch(url + path, { method, headers, body })
      return { status: answer.status, body: await answer.text() }
    }
    const answer = await keeper(method, pass)
    if (answer) response.writeHead(answer.status).end(answer.body)
    else request.socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    config: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key },
    keep: (by = passing) => {
      keeper = by
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
