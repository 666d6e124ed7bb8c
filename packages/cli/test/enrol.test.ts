import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf, mistyped } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Agents whose keys are made where they run. Catches: an enrolment on a screen, a signature for a name or for a part of a fingerprint, an
// agent that reads before somebody signed for it, a key ended in passing.
// Seen red: a name endorsed with --yes, eight characters of a fingerprint compared, a key ended without asking.

let world: World
let machine: Machine
let edge: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  edge = world.machine()
  edge.file('passphrase', 'purple otter canal lantern\n')
  await machine.call(['set', 'prod/stripe/STRIPE_KEY', '--create-vault'], { input: 'sk_canary' })
})
afterAll(() => world.close())

const refused = async (args: readonly string[], code: string, exitCode: number, env: Record<string, string> = {}) => {
  const ended = await machine.call([...args, '--json'], { env })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended
}

/** As a process with the bundle of the agent, and nothing else. */
const readAtEdge = () =>
  edge.spawn(['read', 'prod/stripe/STRIPE_KEY'], {
    env: { STRONGROOM_BUNDLE_FILE: join(edge.home, 'edge.bundle') },
  })

interface Requested {
  readonly agentId: string
  readonly keyId: string
  readonly fingerprint: string
}
let asked: Requested

it('enrols an agent without keys; the enrolment goes to a private file, and not to a coding agent', async () => {
  const enrol = ['agent', 'enrol', 'edge-7']
  await refused(enrol, 'plaintext_refused_for_agent', 4, { STRONGROOM_AGENT_MODE: '1' })
  await refused([...enrol, '--permission', 'machine.vault.reed'], 'usage', 2)
  expect(await jsonOf(machine, ['agent', 'list'])).toEqual([])
  const file = join(machine.home, 'edge.enrolment')
  const made = await jsonOf(machine, [...enrol, '--out', 'edge.enrolment'])
  expect(made).toMatchObject({ agent: { name: 'edge-7' }, endorser: world.founder.identity.kid, file })
  expect(JSON.stringify(made)).not.toMatch(/sre1|sra_/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await jsonOf(machine, ['agent', 'pending'])).toEqual([])
})

it('makes the keys on the machine of the agent, which can read nothing before a person signed for them', async () => {
  edge.file('enrolment', readFileSync(join(machine.home, 'edge.enrolment'), 'utf8'))
  edge.file('nonsense', 'hello\n')
  const args = ['--out', 'edge.bundle', '--json']
  expect((await edge.call(['agent', 'request', 'nonsense', ...args])).error()).toMatchObject({
    code: 'file_unreadable',
  })
  expect(existsSync(join(edge.home, 'edge.bundle'))).toBe(false)
  asked = await jsonOf<Requested>(edge, ['agent', 'request', 'enrolment', '--out', 'edge.bundle'])
  expect(statSync(join(edge.home, 'edge.bundle')).mode & 0o777).toBe(0o600)
  expect(await jsonOf(machine, ['agent', 'pending'])).toMatchObject([
    { agent: 'edge-7', keyId: asked.keyId, fingerprint: asked.fingerprint },
  ])
  expect(await readAtEdge()).toMatchObject({ code: 5, stdout: '' })
})

it('signs for the fingerprint the agent showed, for no name and for no other key', async () => {
  const vault = ['--vault', 'prod']
  await refused(['agent', 'endorse', 'edge-7', ...vault, '--yes'], 'fingerprint_required', 2)
  await refused(['agent', 'endorse', mistyped(asked.fingerprint), ...vault], 'key_not_found', 5)
  await refused(['agent', 'endorse', asked.fingerprint, '--vault', 'nowhere'], 'vault_not_found', 5)
  expect(await jsonOf(machine, ['agent', 'pending'])).toHaveLength(1)
  const done = await jsonOf(machine, ['agent', 'endorse', asked.fingerprint.toUpperCase(), ...vault])
  expect(done).toEqual({ keyId: asked.keyId, vaults: [{ vault: 'prod', role: 'read' }] })
  expect(await jsonOf(machine, ['agent', 'pending'])).toEqual([])
  expect(await readAtEdge()).toMatchObject({ code: 0, stdout: 'sk_canary' })
})

it('keeps the keys in a profile where no file is named, and ends a key for good after asking', async () => {
  await jsonOf(machine, ['agent', 'enrol', 'edge-8', '--out', 'edge-8.enrolment'])
  const second = world.machine()
  second.file('passphrase', 'purple otter canal lantern\n')
  second.file('enrolment', readFileSync(join(machine.home, 'edge-8.enrolment'), 'utf8'))
  const request = ['agent', 'request', 'enrolment', '--passphrase-file', 'passphrase']
  const { fingerprint } = await jsonOf<Requested>(second, request)
  await jsonOf(machine, ['agent', 'endorse', fingerprint, '--vault', 'prod'])
  expect((await second.call(['read', 'prod/stripe/STRIPE_KEY', '--profile', 'edge-8'])).stdout).toBe('sk_canary')

  await refused(['agent', 'revoke-key', 'edge-7', '--yes'], 'usage', 2)
  await refused(['agent', 'revoke-key', asked.keyId], 'confirmation_required', 2)
  const revoke = ['agent', 'revoke-key', asked.keyId, '--reason', 'compromised', '--yes']
  expect(await jsonOf<{ rotationDue: string[] }>(machine, revoke)).toMatchObject({ keyId: asked.keyId })
  expect(await jsonOf(machine, ['key', 'list', 'edge-7'])).toMatchObject([{ status: 'compromised' }])
})
