import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { makeAccessToken, makeApiKey } from '../secrets/credentials.ts'

// Catches, each seen red: looking up a key before its checksum is checked, a query for a token that cannot be one.

let h: Harness
let agent: TestAgent
let acquired = 0
beforeAll(async () => {
  h = await startHarness()
  agent = await h.agent(await h.org('cheap'), [])
  // Every query and every transaction takes a connection from the pool first.
  h.deps.database.pool.on('acquire', () => {
    acquired++
  })
})
afterAll(() => h.close())

async function costOf(headers: Readonly<Record<string, string>>, init: RequestInit = {}) {
  h.advance(60_000)
  const before = acquired
  const { status } = await fetch(`${h.url}/api/v1/machine/agent`, { ...init, headers })
  return { status, queries: acquired - before }
}

const key = () => makeApiKey(h.deps.pepper).apiKey
const MALFORMED: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'no credential': () => ({}),
  'an empty key': () => ({ 'x-api-key': '' }),
  'a key without a secret': () => ({ 'x-api-key': agent.apiKey.split('.')[0] ?? '' }),
  'a key with one letter changed': () => ({ 'x-api-key': agent.apiKey.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }),
  'the halves of two keys': () => ({ 'x-api-key': `${agent.apiKey.split('.')[0]}.${key().split('.')[1]}` }),
  'a key that is too long': () => ({ 'x-api-key': `${agent.apiKey}0` }),
  'a key of 7 kB': () => ({ 'x-api-key': 'x'.repeat(7000) }),
  'an empty token': () => ({ authorization: 'Bearer ' }),
  'another scheme': () => ({ authorization: `Basic ${makeAccessToken().token}` }),
  'a token that is too short': () => ({ authorization: `Bearer ${makeAccessToken().token.slice(0, -1)}` }),
  'a token of another kind': () => ({ authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }),
  'a key as token': () => ({ authorization: `Bearer ${agent.apiKey}` }),
  'a key and a token': () => ({ 'x-api-key': agent.apiKey, authorization: `Bearer ${makeAccessToken().token}` }),
}

for (const [name, headers] of Object.entries(MALFORMED)) {
  it(`asks the database nothing for ${name}`, async () => {
    expect(await costOf(headers())).toEqual({ status: 401, queries: 0 })
  })
}

it('asks the database nothing for a stranger’s body, path, host or method either', async () => {
  const before = acquired
  const answers = await Promise.all([
    fetch(`${h.url}/api/v1/machine/agent`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    }),
    fetch(`${h.url}/api/v1/machine/nowhere`, { headers: { 'x-api-key': agent.apiKey } }),
    fetch(`${h.url}/api/v1/machine/agent`, { method: 'DELETE', headers: { 'x-api-key': agent.apiKey } }),
    fetch(`${h.url}/api/v1/machine/agent?${'x'.repeat(3000)}`, { headers: { 'x-api-key': agent.apiKey } }),
    fetch(`${h.url}/api/v1/machine/agent/%2e`, { headers: { 'x-api-key': agent.apiKey } }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([401, 404, 405, 414, 404])
  expect(acquired - before).toBe(0)
})

it('asks once for what could be a credential, and finds out then', async () => {
  expect(await costOf({ 'x-api-key': key() })).toEqual({ status: 401, queries: 1 })
  expect(await costOf({ authorization: `Bearer ${makeAccessToken().token}` })).toEqual({ status: 401, queries: 1 })
})
