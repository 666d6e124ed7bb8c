import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { askTogether } from './together.ts'

// Catches: an answer given to the wrong caller, a question answered by a statement that was sent before it was asked, a failed
// statement that takes later questions with it. Seen red: answers by position instead of by key (the database is free to choose
// the order); new questions joined to the statement under way; `running` not counted down after a failure.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('tells many who ask at once each who they are, across organisations, and a stranger nothing', async () => {
  const orgs = await Promise.all(['acme', 'globex'].map((name) => h.org(name)))
  const agents: { agent: TestAgent; orgId: string }[] = []
  for (let i = 0; i < 120; i++) {
    const org = orgs[i % 2] as (typeof orgs)[number]
    agents.push({ agent: await h.agent(org, [`machine.${i}`]), orgId: org.orgId })
  }
  const ask = async ({ agent, orgId }: (typeof agents)[number]): Promise<void> => {
    const { principal, org } = await agent.client.identity.me()
    expect([principal.id, org.orgId]).toEqual([`agent:${agent.agentId}`, orgId])
  }
  const stranger = h.deps.database.findKey('sra_00000000000000000000')
  await Promise.all([...agents, ...agents].map(ask))
  expect(await stranger).toBeNull()
})

/** A pool whose statements end when the test says so. */
function makeHeldPool() {
  const sent: { keys: string[]; end(): void; fail(): void }[] = []
  const query = ({ values: [keys] }: { values: [string[]] }) =>
    new Promise((resolve, reject) => {
      const rows = keys.toReversed().map((key) => ({ key, row: `row of ${key}` }))
      sent.push({ keys, end: () => resolve({ rows }), fail: () => reject(new Error('gone')) })
    })
  return { pool: { query } as unknown as pg.Pool, sent }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

it('answers a question only from a statement that was sent after it', async () => {
  const { pool, sent } = makeHeldPool()
  const ask = askTogether(pool, { name: 'n', text: 't' })
  const answers = [ask('a'), ask('b')]
  await turn()
  // As many as go at once, each with the same key; whoever comes after them waits.
  for (let i = 0; i < 3; i++) {
    answers.push(ask('a'))
    await turn()
  }
  answers.push(ask('a'), ask('c'))
  await turn()
  const first = [['a', 'b'], ['a'], ['a'], ['a']]
  expect(sent.map(({ keys }) => keys)).toEqual(first)
  sent[0]?.end()
  await turn()
  expect(sent.map(({ keys }) => keys)).toEqual([...first, ['a', 'c']])
  for (const { end } of sent) end()
  const rows = ['a', 'b', 'a', 'a', 'a', 'a', 'c'].map((key) => `row of ${key}`)
  expect(await Promise.all(answers)).toEqual(rows)
})

it('fails those who asked in a statement that failed, and goes on', async () => {
  const { pool, sent } = makeHeldPool()
  const ask = askTogether(pool, { name: 'n', text: 't' })
  for (let i = 0; i < 9; i++) {
    const answers = Promise.allSettled([ask('a'), ask('b')])
    await turn()
    sent.at(-1)?.fail()
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  }
  const answer = ask('a')
  await turn()
  sent.at(-1)?.end()
  expect(await answer).toBe('row of a')
})
