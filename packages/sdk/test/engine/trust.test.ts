import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  EMPTY_TRUST_STORE,
  type OrgTrust,
  orgTrustOf,
  ProtocolError,
  recordAlarm,
  type TrustStore,
} from '@strongroom/protocol'
import { afterAll, expect, it } from 'vitest'
import { memoryTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { fileCache, fileTrust } from '../../src/engine/trust-file.ts'

// Catches: an update without the lock (two processes lose alarms), a lock that a killed holder keeps, a store that is written in
// place (kill -9 leaves half a file), a lock that two waiters take over from a dead holder at once, a store that others may read.

const directory = mkdtempSync(join(tmpdir(), 'sr-trust-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const ORG = 'org_test'
const ORG_TRUST: OrgTrust = {
  genesis: 'A'.repeat(43),
  mode: 'pinned',
  origin: 'log.example/1',
  logVkeys: [],
  tlogPolicy: '',
  policyVersion: 0,
  checkpoint: null,
  checkpointAt: 0,
  minimum: null,
  signers: {},
  principals: {},
  vaults: {},
  projects: {},
  alarms: [],
}
const WITH_ORG: TrustStore = { version: 1, orgs: { [ORG]: ORG_TRUST } }

const WRITER = fileURLToPath(new URL('trust-writer.ts', import.meta.url))
interface WriterProcess {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  isReady(): boolean
  lines(): readonly string[]
}
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2))
}
function startWriter(path: string, name: string, count: number): WriterProcess {
  const child = spawn(process.execPath, [WRITER, path, ORG, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return {
    child,
    ended: once(child, 'close'),
    isReady: () => text.includes('ready'),
    lines: () => text.split('\n').slice(1, -1),
  }
}

const alarmsIn = async (trust: TrustKeeper): Promise<readonly string[]> =>
  orgTrustOf(await trust.read(), ORG).alarms.map(({ detail }) => detail)
const alarm = (detail: string) => (store: TrustStore) => recordAlarm(store, ORG, { at: 1, code: 'malformed', detail })

async function provide(name: string): Promise<{ path: string; trust: TrustKeeper }> {
  const path = join(directory, name, 'trust.json')
  const trust = fileTrust(path)
  await trust.update(() => WITH_ORG)
  return { path, trust }
}

it.each([
  ['memory', async () => memoryTrust(WITH_ORG)],
  ['file', async () => (await provide('many')).trust],
] as const)('loses none of fifty updates at once, and keeps the store when a change refuses: %s', async (_, make) => {
  const trust = await make()
  await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      trust.update(async (store) => {
        await new Promise((resolve) => setTimeout(resolve, 0))
        return alarm(String(i))(store)
      }),
    ),
  )
  expect(new Set(await alarmsIn(trust)).size).toBe(50)
  const before = await trust.read()
  await expect(
    trust.update(() => {
      throw new ProtocolError('log_fork', 'no')
    }),
  ).rejects.toMatchObject({ code: 'log_fork' })
  expect(await trust.read()).toEqual(before)
  expect(orgTrustOf(await trust.update(alarm('after')), ORG).alarms).toHaveLength(51)
})

it('keeps the file to its owner, leaves no drafts, and starts empty where there is none', async () => {
  expect(await fileTrust(join(directory, 'absent', 'trust.json')).read()).toEqual(EMPTY_TRUST_STORE)
  const { path, trust } = await provide('modes')
  await trust.update(alarm('one'))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory, 'modes')).mode & 0o777).toBe(0o700)
  const names = readdirSync(join(directory, 'modes'))
  expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
  expect(names).toHaveLength(2)
})

it('refuses a store it cannot read, and does not replace it', async () => {
  const { path, trust } = await provide('broken')
  for (const text of ['', '{"version":1,', '{"version":2,"orgs":{}}', '[]']) {
    writeFileSync(path, text)
    await expect(trust.read()).rejects.toMatchObject({ path, cause: { code: 'malformed' } })
    await expect(trust.update((store) => store)).rejects.toMatchObject({ path, cause: { code: 'malformed' } })
    expect(readFileSync(path, 'utf8')).toBe(text)
  }
})

it('does not write where nothing changed', async () => {
  const { path, trust } = await provide('same')
  const { mtimeMs, ino } = statSync(path)
  await trust.update((store) => store)
  expect(statSync(path)).toMatchObject({ mtimeMs, ino })
})

it('loses no update of four processes at once', async () => {
  const { path, trust } = await provide('processes')
  const writers = ['a', 'b', 'c', 'd'].map((name) => startWriter(path, name, 40))
  await Promise.all(writers.map(({ ended }) => ended))
  const told = writers.flatMap(({ lines }) => lines())
  expect(told).toHaveLength(160)
  expect([...(await alarmsIn(trust))].sort()).toEqual([...told].sort())
})

it('survives kill -9 at any moment: what was told is there, and the next process goes on at once', async () => {
  const { path, trust } = await provide('killed')
  for (let round = 0; round < 6; round += 1) {
    await trust.update(() => WITH_ORG)
    const writers = ['x', 'y'].map((name) => startWriter(path, `${name}${round}`, 10_000))
    await until(() => writers.every(({ lines }) => lines().length >= 2))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    for (const { child } of writers) child.kill('SIGKILL')
    await Promise.all(writers.map(({ ended }) => ended))
    const started = Date.now()
    await trust.update(alarm(`after ${round}`))
    expect(Date.now() - started).toBeLessThan(10_000)
    // The store keeps the last thousand alarms only, and one of the two may have begun long before the other.
    const told = writers.flatMap(({ lines }) => lines().slice(-100))
    const kept = new Set(await alarmsIn(trust))
    expect(told.filter((line) => !kept.has(line))).toEqual([])
  }
  expect(readdirSync(join(directory, 'killed')).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

it('takes over the lock of a holder that is gone, one taker at a time, and of nobody who lives', async () => {
  const { path, trust } = await provide('stale')
  const gone = startWriter(path, 'gone', 0)
  await gone.ended
  const holder = { pid: gone.child.pid, host: (await import('node:os')).hostname(), began: '1' }
  for (let round = 0; round < 3; round += 1) {
    for (const name of readdirSync(join(directory, 'stale')))
      if (name.includes('.lock.')) rmSync(join(directory, 'stale', name))
    writeFileSync(`${path}.lock.7`, JSON.stringify(holder))
    const takers = ['p', 'q', 'r'].map((name) => startWriter(path, `${name}${round}`, 3))
    await Promise.all(takers.map(({ ended }) => ended))
    const kept = new Set(await alarmsIn(trust))
    expect(takers.flatMap(({ lines }) => lines()).filter((line) => !kept.has(line))).toEqual([])
  }
  let isOver = false
  let release: () => void = () => undefined
  const holding = trust.update(async (store) => {
    await new Promise<void>((resolve) => {
      release = resolve
    })
    isOver = true
    return alarm('held')(store)
  })
  const waiting = startWriter(path, 'waiting', 1)
  await until(() => waiting.isReady())
  // Long enough for the other process to try the lock many times.
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect([isOver, waiting.lines()]).toEqual([false, []])
  release()
  await holding
  await waiting.ended
  const alarms = await alarmsIn(trust)
  expect(alarms.slice(-2)).toEqual(['held', 'waiting 0'])
})

it('caches bytes in files of their owner, under any name', async () => {
  const cache = fileCache(join(directory, 'cache'))
  const key = 'environment/org_x/../../vault:1'
  expect(await cache.get(key)).toBeUndefined()
  await cache.set(key, Uint8Array.of(1, 2, 3))
  await cache.set(key, Uint8Array.of(4))
  expect(await cache.get(key)).toEqual(Uint8Array.of(4))
  const [name = ''] = readdirSync(join(directory, 'cache'))
  expect(statSync(join(directory, 'cache', name)).mode & 0o777).toBe(0o600)
  await cache.delete(key)
  expect(readdirSync(join(directory, 'cache'))).toEqual([])
})
