import { defaultPolicy, makeDocument, POLICY_NAME, policySet, verifyTransparency } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../test/actors.ts'
import { type Harness, startHarness } from '../../test/harness.ts'
import { FRESH, type LogOrg, makeLogOrg } from '../../test/log-org.ts'
import { codeOf, foundOrg } from '../../test/people.ts'
import { inOrg } from '../context.ts'

// `Tlog-Have` (docs/reference/protocol.md 5.4). Catches, each seen red: the header not read, read and not used for the receipt of a
// directory act, preferred to what the query says, or bent into a number.

const LEAVES = 9

let h: Harness
let org: LogOrg
let read: Awaited<ReturnType<Harness['agent']>>
beforeAll(async () => {
  h = await startHarness()
  org = await makeLogOrg(h, 'known')
  read = await h.agent(org, ['machine.transparency.read'])
  for (let i = 1; i < LEAVES; i++) await org.append([await org.keyAdd(await identityOf('deploy', `agent:ag_h${i}xx`))])
})
afterAll(() => h.close())

const query = { name: POLICY_NAME }
const rootAt = async (orgId: string, size: number): Promise<Uint8Array> => {
  const { note } = await inOrg(h.deps, orgId, (db) =>
    db.selectFrom('log_checkpoint').select('note').where('size', '=', size).executeTakeFirstOrThrow(),
  )
  return Buffer.from(note.split('\n')[2] ?? '', 'base64')
}

it('gets a proof from the size it names, for every size the log had', async () => {
  for (let have = 1; have < LEAVES; have++) {
    const answer = await read.client.transparency.state({ query }, { have })
    expect(answer.consistency?.from).toBe(have)
    const seen = { size: have, root: await rootAt(org.orgId, have) }
    expect((await verifyTransparency(answer, { ...org.pin, seen }, FRESH)).since).toEqual(seen)
  }
})

it('gets none without a size, for the newest, and for one the log never had', async () => {
  for (const have of [undefined, LEAVES, LEAVES + 1, 999_999_999_999_999])
    expect(await read.client.transparency.state({ query }, have === undefined ? {} : { have })).not.toHaveProperty(
      'consistency',
    )
})

it('says less than the query, where that names a size too', async () => {
  const answer = await read.client.transparency.state({ query: { ...query, have: 3 } }, { have: 5 })
  expect(answer.consistency?.from).toBe(3)
})

it('is refused if it is no size, on reads and writes', async () => {
  for (const have of [0, -1, 1.5, Number.NaN, 1e300]) {
    expect(await codeOf(read.client.transparency.state({ query }, { have }))).toBe('validation_failed')
    expect(await codeOf(read.client.identity.me({}, { have }))).toBe('validation_failed')
  }
})

it('makes the receipt of a directory act prove that the log only grew', async () => {
  const empty = await startHarness()
  const alice = await foundOrg(empty)
  const genesis = await inOrg(empty.deps, alice.orgId, (db) =>
    db.selectFrom('org').select('genesis_hash').executeTakeFirstOrThrow(),
  )
  const policy = { ...defaultPolicy(1), rotationGraceMs: 3_600_000 }
  const payload = { org: alice.orgId, at: h.deps.now().getTime(), policyVersion: 2, policy, prev: genesis.genesis_hash }
  const event = await makeDocument(policySet, payload, [alice.identity])
  const { index, transparency } = await alice.client.directory.setPolicy({ body: { event } }, { have: 1 })
  expect(transparency.consistency?.from).toBe(1)
  expect(index).toBeGreaterThan(0)
  await empty.close()
})
