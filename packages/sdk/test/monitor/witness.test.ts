import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseVkey, verifyCheckpoint } from '@strongroom/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeCosigner } from '../../src/monitor/cosigner.ts'
import { openRecord } from '../../src/monitor/record.ts'
import { makeWitness } from '../../src/monitor/witness.ts'
import { formatSubmission } from '../../src/monitor/witness-http.ts'
import { KILLED, newDirectory, run, type Serving, serve, WITNESS, writeConfig } from './processes.ts'
import { makeSigner, makeSmallLog, type SmallLog } from './small-log.ts'

// C2SP tlog-witness by the program itself, over HTTP. Catches: a cosignature before the record of it is on the disk, a record that
// two processes can both step on from (link replaced by rename), a second root for a size, a log that shrank, a proof that is not
// asked for, a checkpoint that no known key signed, a key that others can read.
// Seen red: rename in place of link, signing before the record, no consistency proof, a key file of any mode.

const NAME = 'witness.example/w1'
const logSigner = makeSigner()
/** A history by the one log this witness knows. */
const historyOf = (...words: readonly string[]): SmallLog => makeSmallLog('log.example/4f1d', logSigner).with(...words)

let directory: string
let config: string
let vkey: string
let log: SmallLog
let running: Serving[]
beforeEach(async () => {
  directory = newDirectory()
  running = []
  log = historyOf('a', 'b', 'c')
  vkey = (await run(WITNESS, ['key', join(directory, 'key.pem'), '--name', NAME])).stdout.trim()
  config = writeConfig(directory, {
    name: NAME,
    key: 'key.pem',
    state: 'state',
    listen: '127.0.0.1:0',
    logs: [{ origin: log.origin, vkey: log.vkey }],
  })
})
afterEach(async () => {
  await Promise.all(running.map(({ end }) => end('SIGKILL')))
  rmSync(directory, { recursive: true, force: true })
})

async function started(program = WITNESS): Promise<Serving> {
  const one = await serve(program, config)
  running.push(one)
  return one
}

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

async function post({ url }: Serving, body: string): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body })
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}

const submit = async (to: Serving, old: number, of: SmallLog, proof = old > 0 ? of.proofFrom(old) : []) =>
  post(to, formatSubmission({ old, proof, note: await of.note() }))

/** Verifies as a client would, that the witness and nobody else cosigned this log. */
async function cosigners(of: SmallLog, { body }: Answer): Promise<readonly string[]> {
  const cosigned = (await of.note()) + body
  const trust = { origin: of.origin, logKeys: [of.vkey], cosigners: { witnesses: [{ key: parseVkey(vkey) }] } }
  const { cosignatures } = await verifyCheckpoint(cosigned, trust)
  expect(cosignatures.every(({ timestamp }) => Math.abs(timestamp - Date.now() / 1000) < 60)).toBe(true)
  return cosignatures.map(({ key }) => key.name)
}

const conflict = (size: number): Answer => ({ status: 409, type: 'text/x.tlog.size', body: `${size}\n` })

describe('add-checkpoint', () => {
  it('cosigns what it sees first, what continues it, and the same again, each with the time', async () => {
    const witness = await started()
    const first = await submit(witness, 0, log)
    expect(first.status).toBe(200)
    expect(await cosigners(log, first)).toEqual([NAME])
    const grown = log.with('d', 'e', 'f', 'g')
    expect(await cosigners(grown, await submit(witness, 3, grown))).toEqual([NAME])
    expect(await cosigners(grown, await submit(witness, 7, grown))).toEqual([NAME])
    const crowd = Array.from({ length: 99 }, (_, i) => `\u2014 w${i}.example/w ${'A'.repeat(104)}\n`).join('')
    const crowded = await post(witness, formatSubmission({ old: 7, proof: [], note: (await grown.note()) + crowd }))
    expect(await cosigners(grown, crowded)).toEqual([NAME])
  })

  it('tells who brings another old size the one it knows, also after a restart', async () => {
    const witness = await started()
    await submit(witness, 0, log)
    const grown = log.with('d')
    for (const old of [0, 1, 4]) expect(await submit(witness, old, grown)).toEqual(conflict(3))
    await witness.end()
    expect(await submit(await started(), 0, grown)).toEqual(conflict(3))
    expect((await submit(await started(), 3, grown)).status).toBe(200)
  })

  it('refuses a second root for a size and keeps both checkpoints as evidence', async () => {
    const witness = await started()
    await submit(witness, 0, log)
    const forked = historyOf('a', 'b', 'x')
    expect(await submit(witness, 3, forked, [])).toEqual(conflict(3))
    const [file] = readdirSync(join(directory, 'state')).filter((name) => name.startsWith('contradiction-'))
    const evidence = JSON.parse(readFileSync(join(directory, 'state', file ?? ''), 'utf8'))
    expect(evidence).toMatchObject({ code: 'log_fork', known: await log.note(), served: await forked.note() })
    expect(await cosigners(log, await submit(witness, 3, log))).toEqual([NAME])
  })

  it('refuses a log that shrank and one that grew from another past', async () => {
    const witness = await started()
    const grown = log.with('d', 'e')
    await submit(witness, 0, grown)
    expect(await submit(witness, 3, log)).toEqual(conflict(5))
    expect((await submit(witness, 5, log, [])).status).toBe(400)
    const rewritten = historyOf('a', 'x', 'c', 'd', 'e', 'f')
    expect((await submit(witness, 5, rewritten)).status).toBe(422)
    expect((await submit(witness, 5, grown.with('f'), [])).status).toBe(422)
    expect(await submit(witness, 0, grown.with('f'))).toEqual(conflict(5))
  })

  it('does not know other logs, trusts no other key for the one it knows, and reads nothing loosely', async () => {
    const witness = await started()
    const other = makeSmallLog('other.example/9a').with('a')
    expect((await submit(witness, 0, other)).status).toBe(404)
    expect((await submit(witness, 0, makeSmallLog(log.origin).with('a'))).status).toBe(403)
    const note = await log.note()
    const malformed = ['', note, `old 03\n\n${note}`, `old -1\n\n${note}`, `old 0\nabc\n\n${note}`, `old 0\n${note}`]
    for (const body of [...malformed, `old 0\n\n${note}x`, `old 0\n\n${note.replace('\n3\n', '\n03\n')}`])
      expect((await post(witness, body)).status).toBe(400)
    expect((await post(witness, `old 0\n\n${note}${'x'.repeat(100_000)}`)).status).toBe(413)
    expect((await post(witness, `old 0\n${log.with('d').proofFrom(3).join('\n')}\n\n${note}`)).status).toBe(422)
    expect((await fetch(witness.url)).status).toBe(405)
    expect(readdirSync(join(directory, 'state'))).toEqual([])
    expect((await submit(witness, 0, log)).status).toBe(200)
  })
})

describe('a record that is written before anything is signed', () => {
  it('keeps a witness that was killed between the two from cosigning another root', async () => {
    const killed = await started(KILLED)
    await expect(submit(killed, 0, log)).rejects.toThrow()
    expect((await killed.ended).code).toBe('SIGKILL')
    const witness = await started()
    expect(await submit(witness, 0, historyOf('a', 'b', 'x'))).toEqual(conflict(3))
    expect(await submit(witness, 3, historyOf('a', 'b', 'x'), [])).toEqual(conflict(3))
    expect(await cosigners(log, await submit(witness, 3, log))).toEqual([NAME])
  })

  it('lets one of two processes cosign a size, whichever root each is brought', async () => {
    const [one, two] = [await started(), await started()]
    let accepted = log
    expect((await submit(one, 0, accepted)).status).toBe(200)
    for (let round = 0; round < 25; round++) {
      const forks = [accepted.with(`left ${round}`), accepted.with(`right ${round}`)] as const
      const [left, right] = await Promise.all([
        submit(one, accepted.size, forks[0]),
        submit(two, accepted.size, forks[1]),
      ])
      expect([left.status, right.status].sort()).toEqual([200, 409])
      accepted = left.status === 200 ? forks[0] : forks[1]
    }
  })

  it('lets one of many cosign a step, and is true after any number of steps', async () => {
    const cosigner = makeCosigner(NAME, makeSigner())
    const state = join(directory, 'many')
    const logs = [{ origin: log.origin, vkeys: [log.vkey] }]
    const witnesses = Array.from({ length: 16 }, () => makeWitness({ cosigner, logs, record: openRecord(state) }))
    let accepted = historyOf('first')
    await witnesses[0]?.submit({ old: 0, proof: [], note: await accepted.note() })
    for (let round = 0; round < 20; round++) {
      const forks = witnesses.map((_, i) =>
        accepted.with(...Array.from({ length: 1 + (i % 3) }, () => `${round} ${i}`)),
      )
      const verdicts = await Promise.all(
        witnesses.map(async (witness, i) => {
          const fork = forks[i] as SmallLog
          const { size } = accepted
          return witness.submit({ old: size, proof: fork.proofFrom(size), note: await fork.note() })
        }),
      )
      const won = verdicts.flatMap(({ kind }, i) => (kind === 'cosigned' ? [i] : []))
      expect(won).toHaveLength(1)
      accepted = forks[won[0] ?? 0] as SmallLog
      expect((await openRecord(state).latest(log.origin)).seen?.note).toBe(await accepted.note())
    }
  })

  it('is refused where it cannot be read, instead of being begun anew', async () => {
    const witness = await started()
    await submit(witness, 0, log)
    const [file = ''] = readdirSync(join(directory, 'state'))
    writeFileSync(join(directory, 'state', file), '{')
    expect((await submit(witness, 3, log)).status).toBe(500)
    expect((await submit(witness, 0, log)).status).toBe(500)
  })
})

describe('the key of a witness', () => {
  it('is a file for its owner alone, made once', async () => {
    const path = join(directory, 'key.pem')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await run(WITNESS, ['key', path, '--name', NAME])).stdout.trim()).toBe(vkey)
    chmodSync(path, 0o640)
    const refused = await run(WITNESS, ['serve', '--config', config])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('others can read the key file')
  })
})

it('names what is wrong with its settings and ends with 2', async () => {
  const settings = { name: NAME, key: 'key.pem', state: 'state', logs: [{ origin: log.origin, vkey: log.vkey }] }
  for (const [wrong, word] of [
    [{ ...settings, extra: 1 }, 'extra'],
    [{ ...settings, logs: [] }, 'logs'],
    [{ ...settings, logs: [{ origin: 'x', vkey: log.vkey }] }, 'named'],
    [settings, 'listen'],
  ] as const) {
    const ended = await run(WITNESS, ['serve', '--config', writeConfig(directory, wrong)])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(word)
  }
})
