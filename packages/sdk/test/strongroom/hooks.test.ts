import { channel } from 'node:diagnostics_channel'
import { openKeys, registerKey } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Verification } from '../../src/engine/actor.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import type { Attempt } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { keysOf } from '../engine/server.ts'
import { type Bot, errorOf, startWorld, unique, type World } from './world.ts'

// What a program hears of its client, and what it may decide. Catches: a hook that sees a value, a key or a header, a verification
// that is not told, a key that is taken without anybody having confirmed it, a confirmation that outlives its withdrawal.
// Seen red: onNewSigner not asked; its answer not looked at; a refused answer told as verified; the path published with its query.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWith(value: string): Promise<string> {
  const name = unique('vault')
  const { vaultId } = await world.alice.vaults.create({ name })
  await world.alice.secrets.set(`sr://${vaultId}/app/KEY`, value)
  return vaultId
}

it('tells of every answer that was verified, and of one that was refused, and shows neither', async () => {
  const vaultId = await vaultWith('v4lue')
  const heard: Verification[] = []
  const { client, wire } = world.device({ hooks: { onVerify: (event) => heard.push(event) } })
  await client.secrets.env({ vault: vaultId })
  expect(heard).toEqual([{ subject: vaultId, ok: true, ms: expect.any(Number) }])
  wire.tamper = (asked, answer) =>
    asked.includes('environment-fields') ? { ...(answer as object), data: [] } : undefined
  const { code } = await errorOf(client.secrets.env({ vault: vaultId }))
  expect(heard.slice(1)).toEqual([{ subject: vaultId, ok: false, code, ms: expect.any(Number) }])
  expect(JSON.stringify(heard)).not.toContain('v4lue')
})

it('publishes each attempt where Node looks for such things, without credentials, bodies or queries', async () => {
  const vaultId = await vaultWith('v4lue')
  const attempts: Attempt[] = []
  const listener = (event: unknown): void => void attempts.push(event as Attempt)
  const requests = channel('strongroom:request')
  requests.subscribe(listener)
  const { accessToken, identity: privateKey, trustAnchor } = world.founder
  const quiet = { accessToken, privateKey, trustAnchor, trustStore: memoryTrust(), cache: false as const }
  const client = new NodeStrongroom({ ...quiet, server: world.url })
  await client.secrets.env({ vault: vaultId })
  const away = new NodeStrongroom({ ...quiet, server: 'http://127.0.0.1:9', maxRetries: 0 })
  await errorOf(away.me())
  requests.unsubscribe(listener)
  const [answered, failed] = [attempts.find(({ status }) => status === 200), attempts.find(({ code }) => code)]
  expect(answered).toMatchObject({ method: 'GET', attempt: 1, requestId: expect.any(String) })
  expect(answered?.path).toMatch(/\/environment-fields$/)
  expect(failed).toMatchObject({ code: 'connection_failed', path: '/api/v1/machine/me' })
  for (const leak of [accessToken, 'v4lue', 'include=']) expect(JSON.stringify(attempts)).not.toContain(leak)
})

/** The same agent with another key that nothing links to the first, which has ended; used in the vault. */
async function withUnlinkedKey(bot: Bot, vaultId: string): Promise<string> {
  const { founder, url } = world
  const [old] = (await world.alice.transparency.exposure(bot.principal)).keys
  await world.alice.agents.revokeKey(old?.keyId ?? '', 'removed')
  const identity = await openKeys(`agent:${bot.agent.agentId}`, keysOf('deployNext'))
  const event = await registerKey({ org: founder.orgId, caps: ['agent'], at: Date.now() }, founder.identity, identity)
  await founder.client.keys.register({ body: { event } })
  const { trustAnchor } = founder
  const other = new Strongroom({
    server: url,
    apiKey: bot.apiKey.reveal(),
    privateKey: identity,
    trustAnchor,
    verify: { confirmedKeys: [identity.kid] },
  })
  await other.vaults.update(vaultId, { classification: 'restricted' })
  return identity.kid
}

it('takes a new key that nothing links to the old one only if a person says so', async () => {
  const vaultId = await vaultWith('one')
  const bot = await world.agent('deploy', { vaults: [{ vault: vaultId, role: 'write' }] })
  await bot.client.secrets.set(`sr://${vaultId}/app/KEY`, 'two')
  const asked: unknown[] = []
  const deciding = (verdict: 'trust' | 'reject') =>
    world.device({
      trustStore: memoryTrust(),
      verify: {
        onNewSigner: async (signer) => {
          asked.push(signer)
          return verdict
        },
      },
    }).client
  const [trusting, wary, silent] = [deciding('trust'), deciding('reject'), world.device().client]
  for (const client of [trusting, wary, silent]) await client.secrets.env({ vault: vaultId })
  const keyId = await withUnlinkedKey(bot, vaultId)
  for (const client of [wary, silent])
    expect(await errorOf(client.secrets.env({ vault: vaultId }))).toMatchObject({ code: 'continuity_broken' })
  expect((await trusting.secrets.env({ vault: vaultId })).toObject()).toEqual({ KEY: 'two' })
  expect(asked).toEqual([
    { keyId, known: [expect.stringContaining(bot.principal)] },
    { keyId, known: [expect.stringContaining(bot.principal)] },
  ])
  expect(await trusting.transparency.trust.alarms()).toEqual([])
  const known = (await trusting.transparency.trust.list()).find((one) => one.keyId === keyId)
  expect(known?.verified).toBe('oob')
})

it('pins a key that was confirmed, and takes that back', async () => {
  const vaultId = await vaultWith('one')
  const { client } = world.device()
  await client.secrets.env({ vault: vaultId })
  const { kid } = world.founder.identity
  const verified = async () => (await client.transparency.trust.list()).find(({ keyId }) => keyId === kid)?.verified
  expect(await verified()).toBe('endorsed')
  await client.transparency.trust.pin(kid)
  expect(await verified()).toBe('oob')
  await client.secrets.env({ vault: vaultId })
  expect(await verified()).toBe('oob')
  await client.transparency.trust.unpin(kid)
  expect(await verified()).toBe('endorsed')
  await client.transparency.trust.pin('agent:agt_nobody:nothing')
  expect((await client.secrets.env({ vault: vaultId })).toObject()).toEqual({ KEY: 'one' })
})
