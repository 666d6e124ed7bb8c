import { expect, it } from 'vitest'
import { commerceRows } from '../src/activity/rows.ts'
import type { Cli } from '../src/cli.ts'

// What `activity` reads of long lists. Catches: rows that are left out without a word, and a word where none are. Seen red: nothing said.

const PEOPLE = (id: string): string => id

async function* events(count: number) {
  for (let i = 0; i < count; i += 1)
    yield {
      ...{ action: 'budget.update', actor: { id: 'user:usr_1' }, targets: [], context: { requestId: `req_${i}` } },
      ...{ errorCode: null, occurredAt: new Date(Date.UTC(2026, 0, 2) - i * 1000).toISOString() },
    }
}

async function rowsOf(count: number, from = 0) {
  const said: string[] = []
  const strongroom = { monitoring: { audit: () => events(count) }, billing: { transactions: () => events(0) } }
  const cli = { strongroom: async () => strongroom, say: (line: string) => said.push(line), signal: undefined }
  return { rows: (await commerceRows(cli as unknown as Cli, PEOPLE, from)).length, said }
}

it('looks at so many and says how far back that was, and says nothing where that was all', async () => {
  expect(await rowsOf(1000)).toEqual({ rows: 1000, said: [] })
  const { rows, said } = await rowsOf(1001)
  expect(rows).toBe(1000)
  expect(said).toEqual([
    expect.stringMatching(/^only the newest 1000 records of what was done were looked at, back to /),
  ])
  expect(await rowsOf(5000, Date.UTC(2026, 0, 2) - 10_000)).toEqual({ rows: 11, said: [] })
})
