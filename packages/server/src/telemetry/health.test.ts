import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { setReadOnly } from '../../test/read-only.ts'

// Whom a load balancer sends requests to. Catches: a server that calls itself ready while its database takes no writes, as after a
// fail-over, and then answers next to everything with 503; a log that does not say what is in the way; an answer that does.
// Seen red: only that the database answers asked for; nothing logged.

let h: Harness
const lines: string[] = []
beforeAll(async () => {
  h = await startHarness({ logLevel: 'info' }, { write: (line) => void lines.push(line) })
})
afterAll(() => h.close())

const look = async (path: string) => {
  const answer = await fetch(`${h.url}${path}`)
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() }
}
const hindrances = () => lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'database_unavailable')

it('is not ready while the database takes no writes, alive all the same, and ready when it takes them again', async () => {
  expect(await look('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  await setReadOnly(h, 'on')
  try {
    const { status, retryAfter, body } = await look('/readyz')
    expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '2' })
    expect(body).toMatchObject({ error: { code: 'not_ready' } })
    expect(JSON.stringify(body)).not.toMatch(/read.?only|25006|database/i)
    expect(hindrances()).toMatchObject([{ level: 40, code: '25006' }])
    expect(await look('/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } })
  } finally {
    await setReadOnly(h, 'off')
  }
  expect(await look('/readyz')).toMatchObject({ status: 200 })
  expect(hindrances()).toHaveLength(1)
})
