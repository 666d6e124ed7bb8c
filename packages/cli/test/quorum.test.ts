import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDocument, peekDocument, policySet } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// How many administrators sign, changed by one, by two, and by nobody alone any more. Catches: a quorum that could never be met, a
// countersignature under something else than quorums, a statement of an earlier policy, one person who counts twice, a statement with
// signatures that is written over.
// Seen red: the number of administrators not asked for, the rest of the policy not compared, the predecessor not compared, a statement
// sent with too few signatures, a change that does not ask; keys counted instead of people, by the SDK and before signing; a file that is there
// not looked for; the file it was read from taken for another; an administrator removed without whom the quorum is out of reach.

const PASSPHRASE = 'purple otter canal lantern'
let world: World
let alice: Machine
let bob: Machine
beforeAll(async () => {
  world = await startWorld()
  alice = await world.founderMachine()
  bob = world.machine()
  bob.file('passphrase', `${PASSPHRASE}\n`)
})
afterAll(() => world.close())

const asBob = () => ({ STRONGROOM_PASSPHRASE_FILE: join(bob.home, 'passphrase') })
const at = (name: string): string => join(alice.home, name)

const refused = async (args: readonly string[], code: string, exitCode: number, who: Machine = alice) => {
  const ended = await who.call(['log', 'quorum', ...args, '--json'], { env: who === bob ? asBob() : {} })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended.error()
}

interface Shown {
  readonly entry: number
}
const shown = () => jsonOf<Shown>(alice, ['log', 'quorum'])

it('refuses more signatures than there are administrators, and changes nothing in passing', async () => {
  const before = await shown()
  expect(before).toMatchObject({ state: 'set', directory: 1, recovery: 1, policyVersion: 1 })
  const { message, hint } = await refused(['--directory', '2', '--yes'], 'validation_failed', 6)
  expect(message).toContain('one directory administrator')
  expect(hint).toContain('strongroom user invite EMAIL --cap dir-admin')
  await refused(['--recovery', '2', '--yes'], 'validation_failed', 6)
  await refused(['--directory', '0', '--yes'], 'validation_failed', 6)
  await refused(['--directory', '2', '--send', 'x.json'], 'usage', 2)
  await refused(['--send', 'absent.json'], 'file_unreadable', 6)
  expect(await jsonOf(alice, ['log', 'quorum', '--directory', '1'])).toEqual(before)
})

it('is raised by one where one is enough, after asking what it means', async () => {
  const made = ['user', 'invite', 'bob@northwind.test', '--name', 'Bob', '--cap', 'dir-admin', '--out', 'bob.link']
  await jsonOf(alice, made)
  await jsonOf(alice, ['user', 'list'])
  bob.file('link', readFileSync(at('bob.link'), 'utf8'))
  await jsonOf(bob, ['init', '--invite', 'link', '--passphrase-file', 'passphrase', '--kit', 'kit.txt'])
  await jsonOf(alice, ['user', 'endorse', 'bob@northwind.test'])
  await jsonOf(alice, ['user', 'roles', 'bob@northwind.test', '--org', 'ORG_ADMIN'])
  const asked = await refused(['--directory', '2'], 'confirmation_required', 2)
  expect(asked.message).toBe(
    'directory 1 → 2. That takes all 2 administrators: if one key is lost, it cannot be changed any more. Send it?',
  )
  const set = await alice.call(['log', 'quorum', '--directory', '2', '--yes'])
  expect(set).toMatchObject({ code: 0 })
  expect(set.stdout).toMatch(/^✓ directory 1 → 2 {3}entry \d+ of the log\n/)
  expect(await shown()).toMatchObject({ directory: 2, recovery: 1, policyVersion: 2 })
})

it('is changed by two from then on, each of whom sees what it changes', async () => {
  const signed = await jsonOf(alice, ['log', 'quorum', '--recovery', '2', '--out', 's.json'])
  expect(signed).toMatchObject({ state: 'signed', signatures: 1, needed: 2, to: { directory: 2, recovery: 2 } })
  await refused(['--send', 's.json', '--yes'], 'signatures_missing', 6)
  await refused(['--countersign', 's.json', '--yes'], 'already_signed', 6)
  bob.file('s.json', readFileSync(at('s.json'), 'utf8'))
  await refused(['--countersign', 's.json'], 'confirmation_required', 2, bob)
  const both = await jsonOf(bob, ['log', 'quorum', '--countersign', 's.json', '--yes'], asBob())
  expect(both).toMatchObject({ signatures: 2, file: join(bob.home, 's.json') })
  alice.file('both.json', readFileSync(join(bob.home, 's.json'), 'utf8'))
  await jsonOf(alice, ['log', 'quorum', '--send', 'both.json', '--yes'])
  expect(await shown()).toMatchObject({ directory: 2, recovery: 2, policyVersion: 3 })
  await refused(['--send', 'both.json', '--yes'], 'log_conflict', 6)
  // Refused before anything is signed, whatever the server would say.
  await refused(['--countersign', 's.json', '--yes'], 'log_conflict', 6, bob)
})

it('counts somebody with two keys once', async () => {
  await jsonOf(alice, ['log', 'quorum', '--recovery', '1', '--out', 'one.json'])
  const statement = JSON.parse(readFileSync(at('one.json'), 'utf8'))
  const [own] = statement.signatures
  const keyid = own.keyid.replace(/[^:]+$/, (id: string) => [...id].reverse().join(''))
  expect(keyid).not.toBe(own.keyid)
  alice.file('twice.json', JSON.stringify({ ...statement, signatures: [own, { ...own, keyid }] }))
  const { message } = await refused(['--send', 'twice.json', '--yes'], 'signatures_missing', 6)
  expect(message).toBe('the statement has 1 of 2 signatures')
  alice.file('other-key.json', JSON.stringify({ ...statement, signatures: [{ ...own, keyid }] }))
  await refused(['--countersign', 'other-key.json', '--yes'], 'already_signed', 6)
})

it('writes over no statement but the one it signs', async () => {
  const made = ['log', 'quorum', '--recovery', '1']
  const { file } = await jsonOf<{ file: string }>(alice, made)
  const before = readFileSync(file, 'utf8')
  expect(file).toBe(at('quorum-statement.json'))
  const { message, hint } = await refused(['--recovery', '1'], 'file_unwritable', 6)
  expect(message).toBe(`${file} is there already`)
  expect(hint).toBe(`choose another name with --out FILE, or remove it first: rm ${file}`)
  await refused(['--recovery', '1', '--out', 'quorum-statement.json'], 'file_unwritable', 6)
  bob.file('quorum-statement.json', before)
  const others = bob.file('theirs.json', before)
  await refused(['--countersign', 'theirs.json', '--out', 'quorum-statement.json', '--yes'], 'file_unwritable', 6, bob)
  expect(readFileSync(others, 'utf8')).toBe(before)
  expect(readFileSync(file, 'utf8')).toBe(before)
  const same = ['--countersign', 'theirs.json', '--out', './theirs.json', '--yes']
  expect(await jsonOf(bob, ['log', 'quorum', ...same], asBob())).toMatchObject({ signatures: 2, file: others })
})

it('countersigns nothing but quorums', async () => {
  await jsonOf(alice, ['log', 'quorum', '--recovery', '1', '--out', 'other.json'])
  const { payload } = peekDocument(policySet, JSON.parse(readFileSync(at('other.json'), 'utf8')))
  const { policy, policyVersion, prev, org } = payload
  const widened = { org, at: payload.at, policyVersion, prev, policy: { ...policy, kdf: 'pbkdf2' as const } }
  const statement = await makeDocument(policySet, widened, [world.founder.identity])
  writeFileSync(join(bob.home, 'other.json'), JSON.stringify(statement))
  const { message } = await refused(['--countersign', 'other.json', '--yes'], 'validation_failed', 6, bob)
  expect(message).toContain('more than quorums')
})

it('keeps an administrator without whom it could never be changed again, until it is lowered', async () => {
  const remove = ['user', 'remove', 'bob@northwind.test', '--yes']
  const ended = await alice.call([...remove, '--json'])
  expect([ended.code, ended.stdout]).toEqual([6, ''])
  expect(ended.error()).toMatchObject({
    code: 'quorum_unreachable',
    hint: 'Lower the quorum first: strongroom log quorum --directory N --recovery N',
  })
  await jsonOf(alice, ['log', 'quorum', '--directory', '1', '--recovery', '1', '--out', 'low.json'])
  bob.file('low.json', readFileSync(at('low.json'), 'utf8'))
  await jsonOf(bob, ['log', 'quorum', '--countersign', 'low.json', '--yes'], asBob())
  alice.file('lower.json', readFileSync(join(bob.home, 'low.json'), 'utf8'))
  await jsonOf(alice, ['log', 'quorum', '--send', 'lower.json', '--yes'])
  expect(await jsonOf(alice, remove)).toMatchObject({ was: 'active' })
  expect(await shown()).toMatchObject({ directory: 1, recovery: 1 })
})
