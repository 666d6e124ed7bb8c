import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Attack, DEEDS } from './attack.ts'
import { printScore, type Score } from './score.ts'

/** A path that the API never has. */
export const CONTROL = '/.evil/'

export interface Controlled {
  readonly score: Score
  readonly attacks: readonly Attack[]
  choose(name: string | undefined, after?: number): void
}

/** An attack as `--list` shows it. */
export interface Listed {
  readonly number: string
  readonly name: string
  readonly title: string
  readonly route: string
  readonly client: string
  readonly second: boolean
  readonly witnessed: boolean
  readonly table: string
  readonly codes: readonly string[]
}

export const listed = ({ number, name, title, route, deed, second, witnessed, expect }: Attack): Listed => ({
  number,
  name,
  title,
  route,
  client: DEEDS[deed],
  second: second === true,
  witnessed: witnessed === true,
  ...expect,
})

/**
 * `GET list`, `GET score` (JSON, or a table with `Accept: text/plain`), `POST attack {name, after?}` with `honest` for none,
 * `POST report {name, code}`: what the client said, `same` for the honest result, `accepted` where it took the lie.
 */
export async function answerControl(
  { score, attacks, choose }: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const asked = `${request.method} ${(request.url ?? '').slice(CONTROL.length)}`
  if (asked === 'GET list') return say(200, attacks.map(listed))
  if (asked === 'GET score' && request.headers.accept?.includes('text/plain')) {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(printScore(score.lines()))
    return
  }
  if (asked === 'GET score') return say(200, score.lines())
  const { name, after, code } = await bodyOf(request)
  const attack = attacks.find((one) => one.name === name)
  if (!attack && name !== 'honest') return say(404, { error: 'there is no such attack' })
  if (asked === 'POST attack') {
    choose(attack?.name, typeof after === 'number' ? after : undefined)
    return say(200, { name })
  }
  if (asked !== 'POST report' || !attack || typeof code !== 'string')
    return say(404, { error: 'there is nothing here' })
  score.report(attack, code)
  return say(200, { name, code })
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
