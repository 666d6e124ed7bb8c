import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type ApartOptions, makeApart } from './apart.ts'
import type { Errand } from './errand.ts'

// What becomes of an errand when the process that carries it out does not. Catches: an end of that process that is taken for a refusal,
// an errand that waits for ever, a process that lives on. Seen red: the end settled as unavailable; no patience; never retired.

const folder = mkdtempSync(join(tmpdir(), 'sr-apart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A process that does this with each errand. */
function program(name: string, text: string, options: Partial<ApartOptions> = {}) {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, `process.once('disconnect', () => process.exit(0))\n${text}`)
  return makeApart({ program: file, idleMs: 60_000, mostErrands: 100, patienceMs: 60_000, ...options })
}
const READY = "process.send({ ready: true })\nprocess.on('message', (errand) => "
/** What is in it does not matter here. */
const errand = { method: 'cancel' } as unknown as Errand
const ANSWERS = `${READY} process.send({ id: errand.id, answer: { kind: 'pending', providerRef: String(process.pid), pollAfterMs: 0 } }))`

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
}

it('leaves an errand unknown when the process is killed over it, and starts another for the next', async () => {
  const ask = program('killed', `${READY} process.kill(process.pid, 'SIGKILL'))`)
  const unknown = { kind: 'unknown', cause: 'sealing_process_ended' }
  expect(await Promise.all([ask(errand), ask(errand)])).toEqual([unknown, unknown])
  expect(await ask(errand)).toEqual(unknown)
})

it('leaves it unknown when nothing is heard for too long', async () => {
  const ask = program('silent', `${READY} undefined)`, { patienceMs: 50 })
  expect(await ask(errand)).toEqual({ kind: 'unknown', cause: 'sealing_process_ended' })
})

it('says that nothing has happened when there was no process to ask', async () => {
  const unavailable = { kind: 'unavailable', cause: 'sealing_process_not_started' }
  expect(await program('broken', 'process.exit(1)')(errand)).toEqual(unavailable)
  const nothing = { program: join(folder, 'none.mjs'), idleMs: 1, mostErrands: 1, patienceMs: 60_000 }
  expect(await makeApart(nothing)(errand)).toEqual(unavailable)
})

it('leaves it unknown when something breaks inside, and does not say what', async () => {
  const own = makeApart()
  const broken = { method: 'order', provisioner: 'a secret' } as unknown as Errand
  expect(await own(broken)).toEqual({ kind: 'unknown', cause: 'sealing_failed' })
})

it('asks one process while there is work, and ends it soon after', async () => {
  const pidOf = (answer: object): number => Number('providerRef' in answer && answer.providerRef)
  const ask = program('brief', ANSWERS, { idleMs: 30 })
  const [first, second] = [await ask(errand), await ask(errand)].map(pidOf)
  expect(first).toBe(second)
  await gone(first ?? 0)
  expect(pidOf(await ask(errand))).not.toBe(first)
  const few = program('few', ANSWERS, { mostErrands: 2 })
  const pids = [await few(errand), await few(errand), await few(errand)].map(pidOf)
  expect(new Set(pids).size).toBe(2)
  await gone(pids[0] ?? 0)
})
