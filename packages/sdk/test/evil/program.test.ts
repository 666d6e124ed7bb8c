import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { errorOf } from '../strongroom/world.ts'
import { type SmallAgent, type SmallWorld, startSmallWorld } from './small-world.ts'

// The evil server as a program, as anybody would start it. Seen red: a delivery counted where the honest answer went through.

const MAIN = fileURLToPath(new URL('../../evil-server/main.ts', import.meta.url))
const run = promisify(execFile)

let world: SmallWorld
let bot: SmallAgent
let vault: string
beforeAll(async () => {
  world = await startSmallWorld()
  vault = (await world.alice.vaults.create({ name: 'v' })).vaultId
  bot = await world.agent('deploy', [{ vault, role: 'read' }])
  await world.alice.secrets.set(`sr://${vault}/db/ONE`, 'first')
  await world.alice.secrets.set(`sr://${vault}/db/TWO`, 'second')
})
afterAll(() => world.close())

async function start(...args: readonly string[]): Promise<{ url: string; child: ChildProcess; text(): string }> {
  const child = spawn(process.execPath, [MAIN, '--upstream', world.url, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  while (!/http:\/\/\S+\n/.test(text)) await once(child.stdout, 'data')
  const [url = ''] = /http:\/\/[^\s"]+/.exec(text) ?? []
  return { url, child, text: () => text }
}

async function stop({ child, text }: Awaited<ReturnType<typeof start>>): Promise<string> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
  return text()
}

/** A client that meets the evil server at that address. */
const clientAt = (server: string, trustStore = memoryTrust()) => bot.client({ server, trustStore, maxRetries: 0 })
const post = (url: string, body: unknown) => fetch(url, { method: 'POST', body: JSON.stringify(body) })

it('lists its attacks for people and for programs, and says what it cannot do', async () => {
  const { stdout: list } = await run(process.execPath, [MAIN, '--list'])
  expect(list).toMatch(/ 22 {2}fields-swapped\n.*\n.*FIELD_BINDING: field_swap/)
  const rows = JSON.parse((await run(process.execPath, [MAIN, '--list', '--json'])).stdout) as {
    number: string
    name: string
  }[]
  expect(new Set(rows.map(({ number }) => number)).size).toBeGreaterThanOrEqual(64)
  const documented = readFileSync(new URL('../../../../docs/how-to/run-evil-server.md', import.meta.url), 'utf8')
  for (const { number, name } of rows) expect(documented).toContain(`| ${number} | \`${name}\` |`)
  expect((await run(process.execPath, [MAIN, '--help'])).stdout).toContain('limits:')
  const refused = await run(process.execPath, [MAIN, '--upstream', world.url]).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--attack NAME or --honest') })
})

it('applies one attack, and the score sheet says that it was delivered', async () => {
  const sheet = join(world.directory(), 'sheet.json')
  const evil = await start('--attack', 'fields-swapped', '--score', sheet, '--json')
  expect(await errorOf(clientAt(evil.url).secrets.env({ vault }))).toMatchObject({ code: 'field_swap' })
  expect(await stop(evil)).toContain('delivered fields-swapped')
  const lines = JSON.parse(readFileSync(sheet, 'utf8')) as { name: string; verdict: string; delivered: number }[]
  expect(lines.find(({ name }) => name === 'fields-swapped')).toMatchObject({ verdict: 'delivered', delivered: 1 })
  expect(lines.filter(({ verdict }) => verdict !== 'not run')).toHaveLength(1)
})

it('lets the honest answer through, and counts as not run, where it lacks what an attack needs', async () => {
  const evil = await start('--attack', 'fork', '--score', '-')
  const client = clientAt(evil.url)
  // Its first answer is honest in any case: the attack is on a client that has read before.
  for (let i = 0; i < 2; i += 1) expect((await client.secrets.env({ vault })).names).toHaveLength(2)
  const text = await stop(evil)
  expect(text).toMatch(/ 48 {2}fork +not run +needs the key of the log/)
  expect(text).toMatch(/0 passed, 0 failed, 0 delivered without a report, \d+ not run\n$/)
})

it('switches attacks while it runs, and takes a report of what the client said', async () => {
  const evil = await start('--honest')
  const client = clientAt(evil.url)
  expect((await client.secrets.env({ vault })).names).toHaveLength(2)
  expect((await post(`${evil.url}/.evil/attack`, { name: 'nothing' })).status).toBe(404)
  await post(`${evil.url}/.evil/attack`, { name: 'label-changed' })
  const { code } = await errorOf(client.secrets.env({ vault }))
  await post(`${evil.url}/.evil/report`, { name: 'label-changed', code })
  await post(`${evil.url}/.evil/attack`, { name: 'route-denied' })
  await post(`${evil.url}/.evil/report`, { name: 'route-denied', code: 'accepted' })
  await client.secrets.env({ vault })
  await post(`${evil.url}/.evil/attack`, { name: 'honest' })
  expect((await client.secrets.env({ vault })).names).toHaveLength(2)
  const text = await (await fetch(`${evil.url}/.evil/score`, { headers: { accept: 'text/plain' } })).text()
  expect(text).toMatch(/label-changed +passed +env_mismatch/)
  expect(text).toMatch(/route-denied +FAILED +accepted/)
  await stop(evil)
})

it('records answers and goes back to them later', async () => {
  const file = join(world.directory(), 'answers.json')
  const trust = memoryTrust()
  const recorder = await start('--honest', '--record', file)
  await clientAt(recorder.url, trust).secrets.env({ vault })
  await stop(recorder)
  expect(existsSync(file)).toBe(true)
  await world.alice.secrets.set(`sr://${vault}/db/ONE`, 'changed')
  const evil = await start('--attack', 'shrunk', '--replay', file)
  const client = clientAt(evil.url, trust)
  expect((await client.secrets.env({ vault })).toObject()).toMatchObject({ ONE: 'changed' })
  expect(await errorOf(client.secrets.env({ vault }))).toMatchObject({ code: 'log_rollback' })
  await stop(evil)
})

it('reads the keys of accomplices from their credential strings', async () => {
  const outsider = await world.agent('mallory')
  const file = join(world.directory(), 'accomplice')
  writeFileSync(file, outsider.bundle)
  const evil = await start('--attack', 'signer-of-elsewhere', '--accomplice', file)
  const client = clientAt(evil.url)
  expect((await client.secrets.env({ vault })).names).toHaveLength(2)
  expect(await stop(evil)).toContain('not run signer-of-elsewhere: needs the key of the log')
})
