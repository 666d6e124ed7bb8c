import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Attack, Deed } from '../../sdk/evil-server/attack.ts'
import { ATTACKS } from '../../sdk/evil-server/attacks/all.ts'
import { CANARY, type EvilWorld, everythingIn, startEvilWorld } from '../../sdk/test/evil/world.ts'
import { type Machine, makeMachine, PASSPHRASE, signIn } from './world.ts'

// The attacks of the evil server through the command line: the exit code says that it was no answer to trust (9, and 125 from `run`),
// nothing decrypted is printed or kept anywhere, no child is started, and the evidence lies where the message says.
// Seen red: another exit code for an untrusted signer (17), for `run` (all that it meets), evidence not kept (all with code 9).

let world: EvilWorld
let agent: Machine
let owner: Machine
beforeAll(async () => {
  world = await startEvilWorld()
  world.evil.choose(undefined)
  const folder = world.home()
  agent = makeMachine(folder, 'agent')
  const passphrase = ['--passphrase-file', agent.file('passphrase', PASSPHRASE)]
  const login = await agent.call(['login', '--bundle', '-', ...passphrase], { input: world.readerBundle })
  expect([login.code, login.stderr]).toEqual([0, expect.anything()])
  owner = makeMachine(folder, 'owner')
  await signIn(owner, world.evil.url, world.founder)
})
afterAll(() => world.close())

const STARTED = 'the child was started'

/** What is typed so that an answer of this kind is read. */
const TYPED: Partial<Readonly<Record<Deed, () => readonly string[]>>> = {
  env: () => ['env', '--vault', world.place.vaultId, '--fresh', 'always'],
  fallback: () => ['env', '--vault', world.place.vaultId, '--fresh', 'always'],
  project: () => ['env', '--project', world.place.project, '--fresh', 'always'],
  item: () => ['item', 'show', `${world.place.vaultId}/${world.place.item}`],
  list: () => ['item', 'list', world.place.vaultId],
  me: () => ['whoami'],
  download: () => [
    'file',
    'get',
    `${world.place.vaultId}/${world.place.item}/${world.place.attachment}`,
    '--out',
    'got.bin',
    '--force',
  ],
  share: () => ['vault', 'share', world.place.vaultId, '--with', world.place.newcomer, '--yes'],
}
const LIKE_RUN: ReadonlySet<Deed> = new Set(['env', 'fallback', 'project'])
const asRun = ([_, ...flags]: readonly string[]): readonly string[] => ['run', ...flags, '--', 'echo', STARTED]

const machineFor = (deed: Deed): Machine => (deed === 'share' ? owner : agent)
const REMEMBERED = '.local'
const saved = new Map<Machine, string>()
/** As it was before any attack: what is authentic is remembered, also of a server that lies in other things. */
function asBefore(machine: Machine): Machine {
  const own = join(machine.home, REMEMBERED)
  const copy = saved.get(machine) ?? world.home()
  if (saved.has(machine)) {
    rmSync(own, { recursive: true })
    cpSync(copy, own, { recursive: true })
  } else cpSync(own, copy, { recursive: true })
  saved.set(machine, copy)
  return machine
}
/** The bundle names the server itself, so the flag is given. */
const type = (machine: Machine, [command = '', ...rest]: readonly string[]) =>
  machine.call([command, '--server', world.evil.url, ...rest])

const evidenceOf = ({ home }: Machine): string[] => {
  const folder = join(home, '.local/state/strongroom/evidence')
  return existsSync(folder) ? readdirSync(folder) : []
}

function expectDownloaded(): void {
  const path = join(agent.home, 'got.bin')
  expect(readFileSync(path, 'utf8')).toContain(CANARY)
  rmSync(path)
}

describe('an honest server behind the same proxy', () => {
  it.each(Object.keys(TYPED) as Deed[])('is read: %s', async (deed) => {
    if (deed === 'share') return expect((await owner.call(['vault', 'list', '--json'])).code).toBe(0)
    const args = TYPED[deed]?.() ?? []
    const { code, stdout, stderr } = await type(machineFor(deed), args)
    expect([code, stderr]).toEqual([0, expect.anything()])
    if (deed === 'download') return expectDownloaded()
    expect(stdout).not.toBe('')
    if (!LIKE_RUN.has(deed)) return
    expect(stdout).toContain(CANARY)
    const run = await type(machineFor(deed), asRun(args))
    expect(run).toMatchObject({ code: 0, stdout: `${STARTED}\n` })
  })
})

/** A key that nobody has wrapped is told as what it mostly is, with who can help; and a connection that cannot be used as that. */
const OTHERWISE: Readonly<Record<string, readonly [code: string, exitCode: number]>> = {
  unwrapped_key_missing: ['no_wrapped_key', 4],
  wrapped_key_missing: ['no_wrapped_key', 4],
  redirect_refused: ['redirect_refused', 7],
  limit_exceeded: ['limit_exceeded', 7],
}

async function meet(attack: Attack, args: readonly string[], isRun: boolean): Promise<void> {
  const { evil } = world
  const machine = asBefore(machineFor(attack.deed))
  const before = evidenceOf(machine).length
  const delivered = (): number => evil.score.lines().find(({ name }) => name === attack.name)?.delivered ?? 0
  const deliveredBefore = delivered()
  evil.choose(attack.name, 0)
  const { code, stdout, stderr, error } = await type(machine, isRun ? args : [...args, '--json'])
  evil.choose(undefined)
  expect(delivered()).toBeGreaterThan(deliveredBefore)
  if (attack.expect.codes.includes('same')) return expect(code).toBe(0)
  expect(stdout).toBe('')
  // Not even a draft of a download.
  expect(readdirSync(machine.home).filter((name) => name.includes('got'))).toEqual([])
  expect(`${stderr}${everythingIn(machine.home)}`.includes(CANARY)).toBe(false)
  if (isRun) return expect({ code, stderr }).toMatchObject({ code: 125 })
  const shown = error()
  const told = attack.expect.codes.map((name) => OTHERWISE[name] ?? ([name, 9] as const))
  expect(told).toContainEqual([shown.code, code])
  // Which vaults make a project is not signed, so there is nothing to show to others.
  if (code !== 9 || attack.deed === 'project' || attack.deed === 'me') return
  expect(evidenceOf(machine).length).toBeGreaterThan(before)
  expect(JSON.parse(readFileSync(shown.evidence ?? '', 'utf8')).code).toBe(shown.code)
  await expectHolds(machine, shown)
}

/** Whoever gets the file comes to the same, without keys and without the server. */
async function expectHolds(machine: Machine, { code, evidence = '' }: { code: string; evidence?: string }) {
  const verdict = (await machine.call(['trust', 'check', evidence, '--json'])).json().data as Record<string, unknown>
  expect(verdict).toMatchObject({ claimed: code })
  if (verdict.checkable && verdict.found !== null) expect(verdict).toMatchObject({ found: code, reproduced: true })
}

/** These forge one answer of a log that the command line has asked about a moment before: it is met as a fork, which has its own rows. */
const isForgedInBetween = ({ deed, name }: Attack): boolean => deed === 'download' && name.endsWith('-signed')
const isTyped = (attack: Attack): boolean =>
  TYPED[attack.deed] !== undefined && attack.witnessed === undefined && !isForgedInBetween(attack)

describe('a lying server', () => {
  it.each(ATTACKS.filter(isTyped).map((attack) => [`${attack.number} ${attack.name}`, attack] as const))(
    'gets nothing out of the command line: %s',
    async (_, attack) => {
      const args = TYPED[attack.deed]?.() ?? []
      await meet(attack, args, false)
      if (LIKE_RUN.has(attack.deed)) await meet(attack, asRun(args), true)
    },
  )

  it('was met with every attack that a command line can meet', () => {
    const passed = world.evil.score.lines().filter(({ delivered }) => delivered > 0).length
    expect(passed).toBe(ATTACKS.filter(isTyped).length)
  })
})
