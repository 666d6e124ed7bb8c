import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capsSet, documentHash, makeDocument, peekDocument } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// What a key may sign, given and taken by one administrator and by two. Catches: a key of somebody else than the one that was named, a
// change that does not ask or shows no fingerprint, caps that nobody knows, the last administrator who takes their own, a statement of
// an earlier time, one that is sent with too few signatures.
// Seen red: the key that was named not looked for, the predecessor not compared, the organisation not compared, signatures not counted, the
// administrators who would be left not counted before signing; a key
// that nobody has confirmed left without a word, and taken for confirmed; a statement countersigned that leaves too few.

const PASSPHRASE = 'purple otter canal lantern'
const BOB = 'bob@northwind.test'
let world: World
let alice: Machine
let bob: Machine
beforeAll(async () => {
  world = await startWorld()
  alice = await world.founderMachine()
  bob = world.machine()
  bob.file('passphrase', `${PASSPHRASE}\n`)
  await jsonOf(alice, ['user', 'invite', BOB, '--name', 'Bob', '--out', 'bob.link'])
  bob.file('link', readFileSync(join(alice.home, 'bob.link'), 'utf8'))
  await jsonOf(bob, ['init', '--invite', 'link', '--passphrase-file', 'passphrase', '--kit', 'kit.txt'])
  await jsonOf(alice, ['user', 'endorse', BOB])
  await jsonOf(alice, ['user', 'roles', BOB, '--org', 'ORG_ADMIN'])
})
afterAll(() => world.close())

const asBob = () => ({ STRONGROOM_PASSPHRASE_FILE: join(bob.home, 'passphrase') })

interface Shown {
  readonly keys: readonly { readonly keyId: string; readonly caps: readonly string[]; readonly entry: number }[]
}
const shown = async (...who: readonly string[]) => {
  const { keys } = await jsonOf<Shown>(alice, ['key', 'caps', ...who])
  expect(keys).toHaveLength(1)
  return keys[0]
}

const refused = async (args: readonly string[], code: string, exitCode: number, who: Machine = alice) => {
  const ended = await who.call(['key', 'caps', ...args, '--json'], { env: who === bob ? asBob() : {} })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended.error()
}

const fours = (keyId = ''): string => keyId.slice(-32).replace(/(.{4})(?=.)/g, '$1 ')

it('shows what the log says, and refuses what nobody can mean; nothing changes', async () => {
  const before = await shown(BOB)
  expect(before).toMatchObject({ caps: ['member'], isConfirmed: true })
  expect((await shown())?.caps).toEqual(['dir-admin', 'member'])
  const text = await alice.call(['key', 'caps', BOB])
  expect(text.stdout).toContain(`${before?.keyId}  member`)
  const { hint } = await refused([BOB, '--cap', 'everything', '--yes'], 'usage', 2)
  expect(hint).toBe('there are: agent-manager, dir-admin, recovery')
  await refused([BOB, '--cap', 'dir-admin', '--none', '--yes'], 'usage', 2)
  await refused([`${before?.keyId.slice(0, -32)}${'a'.repeat(32)}`, '--cap', 'dir-admin'], 'key_not_found', 5)
  await refused(['--send', 'absent.json'], 'file_unreadable', 6)
  // Whoever may not sign it is refused by the server, whatever roles they have there.
  await refused([BOB, '--cap', 'dir-admin', '--yes'], 'signer_not_authorised', 6, bob)
  const last = await refused(['--none', '--yes'], 'quorum_unreachable', 6)
  expect(last.message).toBe('This is the only directory administrator: without one, nothing could be signed any more.')
  expect(last.hint).toBe('Make somebody else one first: strongroom key caps WHO --cap dir-admin')
  await jsonOf(alice, ['key', 'caps', BOB, '--none'])
  expect(await shown(BOB)).toEqual(before)
})

it('makes an administrator of somebody, after showing whose key it is', async () => {
  const before = await shown(BOB)
  const key = `the key ${fours(before?.keyId)} of ${BOB}`
  const { message } = await refused([BOB, '--cap', 'dir-admin'], 'confirmation_required', 2)
  expect(message).toBe(
    `${key}: member → dir-admin member. Compare the fingerprint with what its owner tells you. Send it?`,
  )
  const set = await alice.call(['key', 'caps', BOB, '--cap', 'dir-admin', '--yes'])
  expect(set).toMatchObject({ code: 0 })
  expect(set.stdout.split('\n')[0]).toMatch(`✓ ${key}: member → dir-admin member   entry `)
  expect(await shown(BOB)).toMatchObject({ keyId: before?.keyId, caps: ['dir-admin', 'member'] })
  await jsonOf(bob, ['key', 'caps', BOB, '--cap', 'agent-manager', '--cap', 'dir-admin', '--yes'], asBob())
  expect(await shown(BOB)).toMatchObject({ caps: ['agent-manager', 'dir-admin', 'member'] })
})

it('is signed by two where the policy asks for two, each of whom sees what it changes', async () => {
  await jsonOf(alice, ['log', 'quorum', '--directory', '2', '--yes'])
  const signed = await jsonOf(alice, ['key', 'caps', BOB, '--cap', 'recovery', '--cap', 'dir-admin'])
  const file = join(alice.home, 'caps-statement.json')
  expect(signed).toMatchObject({ state: 'signed', signatures: 1, needed: 2, file })
  await refused(['--send', 'caps-statement.json', '--yes'], 'signatures_missing', 6)
  await refused(['--countersign', 'caps-statement.json', '--yes'], 'already_signed', 6)
  bob.file('s.json', readFileSync(file, 'utf8'))
  const { message } = await refused(['--countersign', 's.json'], 'confirmation_required', 2, bob)
  expect(message).toContain('agent-manager dir-admin member → dir-admin member recovery.')
  await jsonOf(bob, ['key', 'caps', '--countersign', 's.json', '--yes'], asBob())
  alice.file('both.json', readFileSync(join(bob.home, 's.json'), 'utf8'))
  await jsonOf(alice, ['key', 'caps', '--send', 'both.json', '--yes'])
  expect(await shown(BOB)).toMatchObject({ caps: ['dir-admin', 'member', 'recovery'] })
  await refused(['--send', 'both.json', '--yes'], 'log_conflict', 6)
  // Refused before anything is signed: it is of an earlier time, and both are needed.
  await refused(['--countersign', 's.json', '--yes'], 'log_conflict', 6, bob)
  await refused([BOB, '--none', '--out', 'none.json'], 'quorum_unreachable', 6)
})

it('countersigns nothing of another organisation, and nothing that leaves too few to sign', async () => {
  const logged = JSON.parse(readFileSync(join(alice.home, 'both.json'), 'utf8'))
  const { org: own, kid, at } = peekDocument(capsSet, logged).payload
  const next = { at, kid, caps: ['agent-manager', 'dir-admin', 'member'] as const, prev: documentHash(logged) }
  const org = `${own.slice(0, -4)}zzzz`
  const statement = await makeDocument(capsSet, { org, ...next, caps: [...next.caps] }, [world.founder.identity])
  bob.file('other.json', JSON.stringify(statement))
  await refused(['--countersign', 'other.json', '--yes'], 'log_conflict', 6, bob)
  const fewer = await makeDocument(capsSet, { org: own, ...next, caps: ['member'] }, [world.founder.identity])
  const text = JSON.stringify(fewer)
  const file = bob.file('fewer.json', text)
  await refused(['--countersign', 'fewer.json', '--yes'], 'quorum_unreachable', 6, bob)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

it('vouches anew for a key whose voucher was found to be compromised, and says how', async () => {
  const own = await startWorld()
  onTestFinished(() => own.close())
  const [ada, ben] = [await own.founderMachine(), own.machine()]
  const env = { STRONGROOM_PASSPHRASE_FILE: ben.file('passphrase', `${PASSPHRASE}\n`) }
  await jsonOf(ada, ['user', 'invite', BOB, '--cap', 'dir-admin', '--out', 'ben.link'])
  ben.file('link', readFileSync(join(ada.home, 'ben.link'), 'utf8'))
  await jsonOf(ben, ['init', '--invite', 'link', '--passphrase-file', 'passphrase', '--kit', 'kit.txt'])
  await jsonOf(ada, ['user', 'endorse', BOB])
  await jsonOf(ada, ['user', 'roles', BOB, '--org', 'ORG_ADMIN'])
  await jsonOf(ben, ['agent', 'create', 'carrier'], env)
  const [voucher] = await jsonOf<{ keyId: string }[]>(ada, ['key', 'list', BOB])
  await jsonOf(ada, ['agent', 'revoke-key', String(voucher?.keyId), '--reason', 'compromised', '--yes'])
  const { keys } = await jsonOf<Shown>(ada, ['key', 'caps', 'carrier'])
  expect(keys).toMatchObject([{ caps: ['agent'], isConfirmed: false }])
  const told = await ada.call(['key', 'caps', 'carrier'])
  expect(told.stdout).toContain('not confirmed')
  expect(told.stderr).toContain(`until it is confirmed: strongroom key caps ${keys[0]?.keyId} --confirm`)
  const asked = (await ada.call(['key', 'caps', 'carrier', '--confirm', '--json'])).error()
  expect(asked).toMatchObject({ code: 'confirmation_required' })
  expect(asked.message).toContain('of carrier: agent, confirmed. Compare the fingerprint')
  await jsonOf(ada, ['key', 'caps', 'carrier', '--confirm', '--yes'])
  expect(await jsonOf(ada, ['key', 'caps', 'carrier'])).toMatchObject({
    keys: [{ caps: ['agent'], isConfirmed: true }],
  })
})
