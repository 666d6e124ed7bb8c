import type { Client, FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { makeRandom } from '../../../test/crash/random.ts'
import { makeTraffic } from '../../../test/crash/traffic.ts'
import { makeVaultBook } from '../../../test/crash/vault-book.ts'
import { type ClientsOptions, makeVaultClients } from '../../../test/crash/vault-clients.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { foundOrg, outcomes, refusal } from '../../../test/people.ts'
import { edit, itemsCommit, makeVault, type Writer, writeItems } from '../../../test/vault-writer.ts'
import type { Ctx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { makeLatecomers, makeLine } from './turn-line.ts'
import { inTurn } from './turns.ts'

// Who may change a vault next. Catches: a writer that is overtaken again and again, one that holds up a vault, one that jumps the
// line, waiting writers that take the connections of everybody else. Seen red: no turn given, or none taken (whoever comes back is
// overtaken); a turn that only its own process knows (half as many rebases again); a hold that does not lapse; any turn believed.

const POOL = 4
let h: Harness
let founder: FirstPerson
beforeAll(async () => {
  h = await startHarness({ poolSize: POOL })
  founder = await foundOrg(h)
})
afterAll(() => h.close())

let made = 0
const commitOf = async (vaultId: string, writer: Writer = founder) => {
  made += 1
  return (await itemsCommit(writer, vaultId, [edit(`itm_turn${made}`, { [`LABEL_${made}`]: 'x' })])).commit
}
type Sent = Awaited<ReturnType<typeof commitOf>>
const send = (vaultId: string, commit: Sent, turn?: string, { client }: Writer = founder): Promise<unknown> =>
  client.vaults.commit({ params: { vaultId }, body: { commit } }, { turn })

/** A vault, the turn of somebody whose commit came too late, and what may be sent now. */
async function tooLate(
  writer: Writer = founder,
): Promise<{ vaultId: string; turn: string | undefined; next: readonly [Sent, Sent] }> {
  const others = writer === founder ? [] : [{ identity: writer.identity, role: 'write' as const }]
  const vaultId = await makeVault(founder, { with: others })
  const stale = await commitOf(vaultId, writer)
  await send(vaultId, await commitOf(vaultId))
  // Built before there is a turn: that lapses soon.
  const next = [await commitOf(vaultId), await commitOf(vaultId)] as const
  const { code, details } = await refusal(send(vaultId, stale, undefined, writer))
  expect(code).toBe('vault_head_conflict')
  return { vaultId, turn: (details as { turn?: string }).turn, next }
}

it('lets whoever comes back with the turn of a conflict go before those who came earlier', async () => {
  const { vaultId, turn, next } = await tooLate()
  const order: string[] = []
  const [first, mine] = next
  const waiting = send(vaultId, first).then(
    () => order.push('other'),
    (error: ApiError) => order.push(`other: ${error.code}`),
  )
  const back = send(vaultId, mine, turn).then(() => order.push('mine'))
  await Promise.all([waiting, back])
  expect(order).toEqual(['mine', 'other: vault_head_conflict'])
})

it('holds a vault for less than a second for who does not come back, and then gives them no turn for a while', async () => {
  const absent = await agentWriter(h, founder, 'deploy')
  const {
    vaultId,
    turn,
    next: [commit],
  } = await tooLate(absent)
  expect(turn).toMatch(/^[0-9a-f-]{36}$/)
  const stale = await commitOf(vaultId, absent)
  const from = performance.now()
  await send(vaultId, commit)
  expect(performance.now() - from).toBeLessThan(3000)
  const { code, details } = await refusal(send(vaultId, stale, turn, absent))
  expect(code).toBe('vault_head_conflict')
  expect(details).not.toHaveProperty('turn')
})

it('believes no turn that it has not given, and refuses one that is none', async () => {
  const vaultId = 'v'.repeat(33)
  const asking = (turn?: string): Ctx => {
    const principal = { orgId: founder.orgId, id: 'agent:jumping' }
    const connection = () => ({ isOpen: () => true })
    return { ...h.deps, principal, request: { turn }, connection } as unknown as Ctx
  }
  const late = () => Promise.reject(new ApiError('vault_head_conflict'))
  const { details } = await inTurn(asking(), [vaultId], late).catch((error: ApiError) => error)
  const order: string[] = []
  const jumping = inTurn(asking('a-turn-that-i-made-up'), [vaultId], async () => order.push('made up'))
  await inTurn(asking(String(details?.turn)), [vaultId], async () => order.push('given'))
  await jumping
  expect(order).toEqual(['given', 'made up'])
  const commit = await commitOf(await makeVault(founder))
  for (const bad of ['a b', 'x'.repeat(65), ''])
    expect(await refusal(send(vaultId, commit, bad))).toMatchObject({
      code: 'validation_failed',
      details: { header: 'Vault-Turn' },
    })
})

/** Everybody writes at once, each several times. */
async function race(options: Partial<ClientsOptions>, writes: number) {
  const traffic = makeTraffic()
  const vault = await makeVaultClients({ url: h.url, founder, traffic, writers: 16, ...options })
  const book = makeVaultBook(vault.vaultId, vault.clients)
  await Promise.all(
    vault.clients.map(async (client) => {
      for (let i = 0; i < writes; i++) await book.write(client, makeRandom(client.number * 100 + i))
    }),
  )
  expect(book.takeProblems()).toEqual([])
  expect(traffic.takeFaults()).toEqual([])
  expect(book.compare(await vault.reader().secrets.env({ vault: vault.vaultId }))).toEqual([])
  expect(book.acked()).toBe(vault.clients.length * writes)
  return { mean: book.meanRebases(), slowestMs: traffic.slowestMs() }
}

it('lets sixteen writers through two processes at once all succeed, in a few rebases each', async () => {
  const sibling = await h.sibling()
  const { mean } = await race({ urlOf: (client) => (client % 2 === 0 ? h.url : sibling.url) }, 2).finally(sibling.close)
  // None needs more than eight, or the book would say so. One each is what it takes: who was late builds once more.
  expect(mean).toBeLessThan(1.25)
})

it('answers everybody in time where there are many more writers than connections, and leaves room for readers', async () => {
  const reading = founder.client as Client
  let isWriting = true
  const read = async (): Promise<number> => {
    let slowest = 0
    while (isWriting) {
      const from = performance.now()
      await reading.vaults.list()
      slowest = Math.max(slowest, performance.now() - from)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return slowest
  }
  const readers = read()
  const { slowestMs } = await race({ writers: 8 * POOL }, 1).finally(() => {
    isWriting = false
  })
  expect(slowestMs).toBeLessThan(10_000)
  expect(await readers).toBeLessThan(5000)
})

it('goes on at once where somebody in line has gone away', async () => {
  const vaultId = await makeVault(founder)
  await writeItems(founder, vaultId, [edit('itm_gone_base', { BASE: 'x' })])
  const commits = [await commitOf(vaultId), await commitOf(vaultId), await commitOf(vaultId)]
  const gone = new AbortController()
  const body = (i: number) => ({ params: { vaultId }, body: { commit: commits[i] as (typeof commits)[number] } })
  const stays = outcomes([founder.client.vaults.commit(body(0)), founder.client.vaults.commit(body(2))])
  const left = founder.client.vaults.commit(body(1), { signal: gone.signal }).catch(() => 'left')
  gone.abort()
  expect(await left).toBe('left')
  const from = performance.now()
  // Which of the two comes first is not ours to say, and the one that left may have come before both.
  const ended = await stays
  expect(ended.filter((one) => one === 'ok').length).toBeLessThanOrEqual(1)
  expect(ended.filter((one) => one !== 'ok' && one !== 'vault_head_conflict')).toEqual([])
  // Far less than somebody who is in line is waited for.
  expect(performance.now() - from).toBeLessThan(5000)
})

it('keeps the order in which they came, and the place of whoever was sent away and is back', async () => {
  const line = makeLine(() => undefined)
  const order: string[] = []
  const enter = (name: string, since: number, timeoutMs = 60_000): Promise<void> =>
    line.enter(since, timeoutMs).then((isFirst) => {
      order.push(isFirst ? name : `${name} too late`)
    })
  await enter('first', 0)
  const waiting = [enter('second', 2), enter('third', 3), enter('impatient', 4, 1), enter('back', 1)]
  await waiting[2]
  for (let i = 0; i < 3; i++) {
    line.leave()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(order).toEqual(['first', 'impatient too late', 'back', 'second', 'third'])
  const latecomers = makeLatecomers()
  const came = performance.now() - 5
  latecomers.sentAway('somebody', came)
  expect(latecomers.since('somebody')).toBe(came)
  expect(latecomers.since('somebody')).toBeGreaterThan(came)
})
