import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKeys, registerKey } from '@strongroom/protocol'
import { keyWords, memoryTrust, Strongroom, type StrongroomOptions } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf } from '../../sdk/test/engine/server.ts'
import { jsonOf, mistyped } from './shapes.ts'
import { type Machine, PASSPHRASE, startWorld, type World } from './world.ts'

// Keys as the log has them. Catches: a fingerprint that is compared in part, words taken for a fingerprint, a key of a person that is lost
// in its rotation, a recovery kit of a rotation that never was, vaults that wait unseen, a confirmation of a key that is not there,
// one that is forgotten with the command.
// Seen red: eight characters of a fingerprint compared, fingerprints of any length, new keys not put into the key store, the kit left
// behind by a refusal, older vault keys not looked at, anything confirmed and nothing kept.

let world: World
let machine: Machine
const at = (name: string): string => join(machine.home, name)
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  machine.file('passphrase', `${PASSPHRASE}\n`)
  await machine.call(['set', 'prod/stripe/STRIPE_KEY', '--create-vault'], { input: 'sk_canary' })
  await jsonOf(machine, ['agent', 'create', 'bot', '--vault', 'prod'])
})
afterAll(() => world.close())

interface Key {
  readonly keyId: string
  readonly status: string
  readonly words: string
}

const refused = async (args: readonly string[], code: string, exitCode: number) => {
  const ended = await machine.call([...args, '--json'])
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
}

it('lists the keys of anybody from the log, with words that are the same everywhere', async () => {
  const [own] = await jsonOf<Key[]>(machine, ['key', 'list'])
  expect(own).toMatchObject({ keyId: world.founder.identity.kid, status: 'active', endedAt: null })
  expect(own?.words).toBe(keyWords(world.founder.identity.kid))
  expect(own?.words).toMatch(/^[a-z]+-[a-z]+-[a-z]+-\d\d$/)
  const shown = await machine.call(['key', 'list', 'bot'])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(/^KEY +WORDS +STATUS/)
  await refused(['key', 'list', 'nobody'], 'principal_not_found', 5)
})

it('verifies a whole fingerprint against the log, and nothing less', async () => {
  const [bot] = await jsonOf<(Key & { fingerprint: string })[]>(machine, ['key', 'fingerprint', 'bot'])
  const { keyId = '', fingerprint = '', words = '' } = bot ?? {}
  const spoken = (await machine.call(['key', 'fingerprint', 'bot'])).stdout
  expect(spoken).toContain(fingerprint.replace(/(.{4})(?=.)/g, '$1 '))
  const typed = fingerprint.toUpperCase().match(/.{4}/g) ?? []
  expect(await jsonOf(machine, ['key', 'verify', 'bot', ...typed])).toMatchObject({ matches: true, keyId })
  expect((await machine.call(['key', 'verify', 'bot', keyId])).code).toBe(0)
  await refused(['key', 'verify', 'bot', words], 'usage', 2)
  await refused(['key', 'verify', 'bot', fingerprint.slice(0, 31)], 'usage', 2)
  const wrong = await machine.call(['key', 'verify', 'bot', mistyped(fingerprint), '--json'])
  expect(wrong.json().data).toMatchObject({ matches: false, keyId: null })
  expect(wrong.code).toBe(9)
})

const knownAs = async (kid: string): Promise<string | undefined> =>
  (await jsonOf<{ keyId: string; verified: string }[]>(machine, ['trust', 'list'])).find(({ keyId }) => keyId === kid)
    ?.verified

it('keeps that a key was compared with its owner, and confirms no key that is not there', async () => {
  const { kid } = world.founder.identity
  expect(await knownAs(kid)).toBe('endorsed')
  expect(await jsonOf(machine, ['trust', 'pin', kid])).toMatchObject([{ keyId: kid, verified: 'oob' }])
  expect(await knownAs(kid)).toBe('oob')
  await refused(['trust', 'pin', 'foo'], 'usage', 2)
  await refused(['trust', 'pin', kid.slice(0, -1)], 'usage', 2)
  await refused(['trust', 'pin', mistyped(kid)], 'key_not_found', 5)
  const [bot] = await jsonOf<Key[]>(machine, ['key', 'list', 'bot'])
  expect(await jsonOf(machine, ['trust', 'pin', bot?.keyId ?? ''])).toMatchObject([{ verified: 'oob' }])
  await jsonOf(machine, ['agent', 'create', 'idle'])
  const [idle] = await jsonOf<Key[]>(machine, ['key', 'list', 'idle'])
  const unmet = (await machine.call(['trust', 'pin', idle?.keyId ?? '', '--json'])).error()
  expect(unmet).toMatchObject({ code: 'key_not_found', hint: `strongroom trust pin ${idle?.keyId} --vault VAULT` })
  expect(await knownAs(idle?.keyId ?? '')).toBeUndefined()
})

it('says which vaults wait for a new key or to be encrypted anew, and does what waits', async () => {
  expect(await jsonOf(machine, ['key', 'due'])).toEqual([])
  await jsonOf(machine, ['access', 'revoke', 'bot', '--vault', 'prod', '--defer'])
  expect((await machine.call(['key', 'due'])).stdout).toMatch(
    /^VAULT +NEW KEY DUE .*\nprod +.* strongroom vault rotate prod\n/,
  )
  expect(await jsonOf(machine, ['key', 'reencrypt', 'prod'])).toMatchObject({ fields: 0, attachments: 0 })
  await jsonOf(machine, ['vault', 'rotate', 'prod'])
  expect(await jsonOf(machine, ['key', 'due'])).toEqual([])
  await jsonOf(machine, ['access', 'grant', 'bot', 'read', '--vault', 'prod'])
  await jsonOf(machine, ['access', 'revoke', 'bot', '--vault', 'prod'])
  expect(await jsonOf(machine, ['key', 'due'])).toMatchObject([
    { name: 'prod', rotationDue: null, olderKeys: 1, fix: 'strongroom key reencrypt prod' },
  ])
  expect(await jsonOf(machine, ['key', 'reencrypt', 'prod'])).toMatchObject({ fields: 1 })
  expect(await jsonOf(machine, ['key', 'due'])).toEqual([])
  await refused(['key', 'reencrypt', 'nowhere'], 'vault_not_found', 5)
})

const clientOf = (credential: Partial<StrongroomOptions>): Strongroom =>
  new Strongroom({
    trustStore: memoryTrust(),
    cache: false,
    ...(credential.bundle === undefined && { server: world.url, trustAnchor: world.founder.trustAnchor }),
    ...credential,
  })

/** An agent signs in the vault with one key, is seen, and goes on with another that nothing links to the first, which has ended. */
async function withUnlinkedKey(seen: () => Promise<unknown>): Promise<string> {
  const { identity, client, orgId: org, accessToken } = world.founder
  const alice = clientOf({ accessToken, privateKey: identity })
  const { vaultId } = await alice.vaults.create({ name: 'shared' })
  const material = keysOf('deploy')
  const bot = await alice.agents.create({
    name: 'deploy',
    keys: { material },
    vaults: [{ vault: vaultId, role: 'write' }],
  })
  await clientOf({ bundle: bot.bundle.reveal() }).vaults.update(vaultId, { classification: 'internal' })
  await seen()
  const principal = `agent:${bot.agent.agentId}` as const
  const [old] = await alice.transparency.keys(principal)
  await alice.agents.revokeKey(old?.keyId ?? '', 'removed')
  const privateKey = await openKeys(principal, keysOf('deployNext'))
  await client.keys.register({
    body: { event: await registerKey({ org, caps: ['agent'], at: Date.now() }, identity, privateKey) },
  })
  const next = { apiKey: bot.apiKey.reveal(), privateKey, verify: { confirmedKeys: [privateKey.kid] } }
  await clientOf(next).vaults.update(vaultId, { classification: 'restricted' })
  return privateKey.kid
}

it('takes over a new key that nothing links to the old one once it is pinned, for every later command', async () => {
  const show = ['vault', 'show', 'shared']
  const kid = await withUnlinkedKey(() => jsonOf(machine, show))
  const { code, hint = '' } = (await machine.call([...show, '--json'])).error()
  const [, typed = ''] = /: strongroom (.*)$/.exec(hint) ?? []
  expect([code, typed]).toEqual(['continuity_broken', expect.stringContaining(`trust pin ${kid} --vault v`)])
  expect(await jsonOf(machine, typed.split(' '))).toMatchObject([{ keyId: kid, verified: 'oob' }])
  await jsonOf(machine, show)
  expect(await knownAs(kid)).toBe('oob')
})

it('gives a person another key with every vault key, a new kit, and leaves nothing where it is refused', async () => {
  const rotate = ['key', 'rotate', '--kit', 'kit.txt']
  await refused([...rotate, '--passphrase-file', 'passphrase'], 'confirmation_required', 2)
  machine.file('wrong', 'not the passphrase at all\n')
  const wrong = await machine.call([...rotate, '--passphrase-file', 'wrong', '--yes', '--json'])
  expect(wrong).toMatchObject({ code: 3, stdout: '' })
  expect(existsSync(at('kit.txt'))).toBe(false)
  expect(await jsonOf<Key[]>(machine, ['key', 'list'])).toHaveLength(1)

  const old = world.founder.identity.kid
  const done = await jsonOf<Key>(machine, [...rotate, '--passphrase-file', 'passphrase', '--yes'])
  expect(done).toMatchObject({ old, rewrapped: expect.any(Number), recoveryKit: at('kit.txt') })
  expect(readFileSync(at('kit.txt'), 'utf8')).toContain(done.keyId)
  const keys = await jsonOf<Key[]>(machine, ['key', 'list'])
  expect(keys.map(({ keyId, status }) => [keyId, status])).toEqual([
    [old, 'superseded'],
    [done.keyId, 'active'],
  ])
  expect((await machine.call(['read', 'prod/stripe/STRIPE_KEY'])).stdout).toBe('sk_canary')
  await machine.call(['set', 'prod/stripe/STRIPE_KEY'], { input: 'under the new key' })
  // The kit of today opens the keys of today, on a machine that knows nothing.
  const elsewhere = world.machine()
  elsewhere.file('passphrase', `${PASSPHRASE}\n`)
  const login = ['login', '--server', world.url, '--kit', at('kit.txt'), '--passphrase-file', 'passphrase']
  expect((await elsewhere.call(login)).code).toBe(0)
  expect((await elsewhere.call(['read', 'prod/stripe/STRIPE_KEY'])).stdout).toBe('under the new key')
})
