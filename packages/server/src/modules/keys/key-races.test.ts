import { type Identity, rotateKey } from '@strongroom/protocol'
import { ApiError, type FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { audit } from '../../../test/log-audit.ts'
import { foundOrg, outcomes } from '../../../test/people.ts'
import { makeVault, vaultCommit, vaultKeys, type Writer } from '../../../test/vault-writer.ts'

// Keys that change while others give to them or change them too. Whatever order it happens in, whoever is on the access list of a
// vault opens it with an active key. Seen red: an append without the lock on its log; a batch that is not compared with what the old
// key holds.

let h: Harness
let alice: FirstPerson
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
})
afterAll(() => h.close())

const ROUNDS = 4
/** What the loser of such a race may be told. */
const ENDINGS = ['ok', 'incomplete_replacement_batch', 'log_conflict', 'signer_not_authorised']

/** The complete batch of what the key holds now. */
async function rotation(agent: Writer, next: Identity) {
  const { data } = await agent.client.keys.grants()
  const vaultIds = [...new Set(data.map(({ vaultId }) => vaultId))]
  const held = []
  for (const vaultId of vaultIds) held.push(...(await vaultKeys(agent, vaultId)).values())
  const { event, replacements } = await rotateKey({ org: alice.orgId, at: Date.now(), held }, agent.identity, next)
  return { event, replacements: [...replacements] }
}

const agentWith = async (vaults: number) => {
  const agent = await agentWriter(h, alice, 'deploy')
  for (let i = 0; i < vaults; i++) await makeVault(alice, { with: [{ identity: agent.identity, role: 'read' }] })
  return agent
}

/** Every vault whose access list names the agent is open to this key. */
async function opensAll(agent: Writer): Promise<number> {
  const { data } = await agent.client.vaults.list()
  for (const { vaultId } of data) expect((await vaultKeys(agent, vaultId)).size).toBe(1)
  return data.length
}

it('lets one of several rotations to different keys win, whose key opens everything and the others nothing', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const agent = await agentWith(2)
    const names = ['deployNext', 'worker', 'bob', 'carol'] as const
    const nexts = await Promise.all(names.map((name) => identityOf(name, `agent:${agent.agentId}`)))
    const bodies = []
    for (const next of nexts) bodies.push(await rotation(agent, next))
    const ended = await outcomes(bodies.map((body) => agent.client.keys.register({ body })))
    expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
    for (const [i, next] of nexts.entries()) {
      const moved = { ...agent, identity: next }
      if (ended[i] === 'ok') expect(await opensAll(moved)).toBe(2)
      else await expect(opensAll(moved)).rejects.toThrow()
    }
    await expect(opensAll(agent)).rejects.toThrow()
  }
  await audit(h.deps, alice)
})

it('leaves no vault without a wrap where vaults are shared with a key while it is rotated', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const agent = await agentWith(1)
    const next = await identityOf('deployNext', `agent:${agent.agentId}`)
    const body = await rotation(agent, next)
    const share = { with: [{ identity: agent.identity, role: 'read' as const }] }
    const commits = await Promise.all(Array.from({ length: 3 }, () => vaultCommit(alice, share)))
    const [first, ...others] = commits.map(
      ({ commit }) =>
        () =>
          alice.client.vaults.create({ body: { commit } }),
    )
    const rotating = () => agent.client.keys.register({ body })
    // Each in front of the other by turns: the server takes them nearly in the order they are sent.
    const calls = round % 2 === 0 ? [first, rotating, ...others] : [rotating, first, ...others]
    const ended = await outcomes(calls.map(async (call) => call?.()))
    const hasRotated = ended[round % 2 === 0 ? 1 : 0] === 'ok'
    const shared = ended.filter((one) => one === 'ok').length - (hasRotated ? 1 : 0)
    // Who shares before the rotation makes its batch incomplete; who shares after it wraps for a key that is over.
    expect(hasRotated && shared > 0).toBe(false)
    for (const one of ended) expect(ENDINGS).toContain(one)
    expect(await opensAll(hasRotated ? { ...agent, identity: next } : agent)).toBe(1 + shared)
    const again = hasRotated ? undefined : await rotation(agent, next)
    if (again) await agent.client.keys.register({ body: again })
    expect(await opensAll({ ...agent, identity: next })).toBe(1 + shared)
  }
  await audit(h.deps, alice)
})

it('leaves exactly one working API key after twenty requests for a new one at once', async () => {
  const agent = await agentWith(0)
  const made = await Promise.all(
    Array.from({ length: 20 }, () => alice.client.agents.regenerateApiKey({ params: { id: agent.agentId } })),
  )
  const tried = await Promise.all(
    made.map(({ apiKey }) =>
      fetch(`${h.url}/api/v1/machine/me`, { headers: { 'x-api-key': apiKey ?? '' } }).then(({ status }) => status),
    ),
  )
  expect(tried.filter((status) => status === 200)).toHaveLength(1)
  expect(tried.filter((status) => status === 401)).toHaveLength(19)
  await expect(agent.client.agents.me()).rejects.toBeInstanceOf(ApiError)
})
