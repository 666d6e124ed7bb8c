import { requestEndorsement } from '@strongroom/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { keyWords } from '../../src/key-words.ts'
import { PermissionDeniedError, ValidationError } from '../../src/strongroom/public-errors.ts'
import { generateRuntimeKey } from '../../src/strongroom/runtime-keys.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { keysOf } from '../engine/server.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// What a key could decrypt, from the log, and the drill after a key was lost. Catches: a grant that is left out or that has no
// end, a value that counts as safe because it was only encrypted anew, a vault of others that is passed over in silence, a state
// that the log does not name, an ended key that the log does not know of, a key that is endorsed for somebody else, for an agent that has one, or
// for more than the part of an agent; a console that only the server names.
// Seen red: tombstones taken for grants, states believed without their hash, the last leaf left out, items of all versions
// taken for exposed, the drill without reading the log; a policy signed again for nothing, a signed policy that nobody looks for in the
// log, provisioners lost with a new console.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const vaultIdOf = async (vault: string): Promise<string> => (await world.alice.vaults.get(vault)).vaultId

describe('the exposure of a key', () => {
  it('lists every vault and version it was ever granted, from when to when, and what is still under them', async () => {
    const { alice } = world
    const [first, second] = [unique('first'), unique('second')]
    for (const name of [first, second]) await alice.vaults.create({ name })
    await alice.secrets.set(`sr://${first}/app/KEPT`, 'same')
    await alice.secrets.set(`sr://${first}/app/OTHER`, 'before')
    const bot = await world.agent('deploy', { vaults: [{ vault: first, role: 'read' }] })
    await alice.permissions.revoke({ vault: first }, bot.principal)
    await alice.secrets.set(`sr://${first}/app/OTHER`, 'after')
    await alice.permissions.grant({ vault: second }, { principal: bot.principal, role: 'READ' })
    const { subject, keys, vaults, head, limits } = await alice.transparency.exposure(bot.principal)
    expect({ subject, treeSize: head.treeSize }).toEqual({
      subject: bot.principal,
      treeSize: (await alice.transparency.head()).treeSize,
    })
    expect(keys).toMatchObject([{ status: 'active', ended: null }])
    const [ended, live] = vaults
    expect(ended).toMatchObject({ vaultId: await vaultIdOf(first), name: first, keyVersion: 2, knowsCurrentKey: false })
    expect(ended?.grants).toMatchObject([{ keyId: keys[0]?.keyId, keyVersion: 1 }])
    const [grant] = ended?.grants ?? []
    expect(grant?.until?.index).toBeGreaterThan(grant?.from.index ?? Number.NaN)
    const [item] = ended?.items ?? []
    expect(item?.fields.map(({ label, isExposed }) => [label, isExposed]).sort()).toEqual([
      ['KEPT', true],
      ['OTHER', false],
    ])
    expect(live).toMatchObject({ name: second, keyVersion: 1, knowsCurrentKey: true, items: [] })
    expect(live?.grants).toMatchObject([{ keyVersion: 1, until: null }])
    expect(limits.length).toBeGreaterThan(0)
  })

  it('says which attachments are under them', async () => {
    const { alice } = world
    const vault = unique('files')
    await alice.vaults.create({ name: vault })
    const { itemId } = await alice.items.create(vault, { name: 'plans', fields: [] })
    const { assetId } = await alice.attachments.upload(vault, itemId, new TextEncoder().encode('a plan'), {
      name: 'plan.txt',
    })
    const bot = await world.agent('worker', { vaults: [{ vault, role: 'read' }] })
    const { vaults } = await alice.transparency.exposure(bot.principal)
    expect(vaults[0]?.items?.[0]?.attachments).toEqual([{ assetId, keyVersion: 1, isExposed: true }])
  })

  it('names a vault of others that the caller cannot read, without its content', async () => {
    const vault = unique('hidden')
    const bot = await world.agent('bob', { permissions: ['machine.all'] })
    const created = await bot.client.vaults.create({ name: vault })
    const { vaults } = await world.alice.transparency.exposure(bot.principal)
    expect(vaults).toMatchObject([
      { vaultId: created.vaultId, name: null, items: null, keyVersion: 1, knowsCurrentKey: true },
    ])
  })

  it('refuses a server that shows another state than the log has, and one that leaves an entry out', async () => {
    const vault = unique('lied')
    await world.alice.vaults.create({ name: vault })
    const bot = await world.agent('carol', { vaults: [{ vault, role: 'read' }] })
    const { client, wire } = world.device()
    wire.tamper = (asked, answer) => {
      if (!asked.startsWith('GET /transparency/state?name=vault')) return undefined
      const { map, ...rest } = answer as { map: { state: Record<string, unknown> }[] }
      return { ...rest, map: map.map((one) => ({ ...one, state: { ...one.state, rotationDue: null, dekVersion: 9 } })) }
    }
    expect(await errorOf(client.transparency.exposure(bot.principal))).toMatchObject({ code: 'bad_map_proof' })
    wire.tamper = (asked, answer) => {
      if (!asked.startsWith('GET /transparency/entries')) return undefined
      const { entries, ...rest } = answer as { entries: unknown[] }
      return { ...rest, entries: [...entries.slice(0, -1), entries[0]] }
    }
    expect(await errorOf(client.transparency.exposure(bot.principal))).toMatchObject({ code: 'bad_inclusion' })
    expect(await errorOf(client.transparency.exposure('nobody'))).toMatchObject({ code: 'config_invalid' })
  })
})

describe('the drill after a key was lost', () => {
  it('ends the key, lists the vaults that need another one, and encrypts them anew', async () => {
    const { alice } = world
    const [open, closed] = [unique('open'), unique('closed')]
    for (const name of [open, closed]) {
      await alice.vaults.create({ name })
      await alice.secrets.set(`sr://${name}/app/KEY`, name)
    }
    const bot = await world.agent('dave', {
      vaults: [
        { vault: open, role: 'write' },
        { vault: closed, role: 'read' },
      ],
    })
    await alice.permissions.revoke({ vault: closed }, bot.principal)
    const [key] = (await alice.transparency.exposure(bot.principal)).keys
    const { rotationDue } = await alice.agents.revokeKey(key?.keyId ?? '', 'compromised')
    expect(rotationDue).toEqual([await vaultIdOf(open)])
    expect((await alice.vaults.get(open)).rotationDue).toBeInstanceOf(Date)
    for (const vaultId of rotationDue) await alice.vaults.rotateKey(vaultId, { reason: 'key-compromised' })
    expect((await alice.vaults.get(open)).rotationDue).toBeNull()
    const after = await alice.transparency.exposure(key?.keyId ?? '')
    expect(after.keys).toMatchObject([{ status: 'compromised', ended: { index: expect.any(Number) } }])
    for (const { knowsCurrentKey, grants, items } of after.vaults) {
      expect(knowsCurrentKey).toBe(false)
      expect(grants.every(({ until }) => until !== null)).toBe(true)
      if (items?.[0]?.name === 'app') expect(items[0].fields.length).toBe(1)
    }
    const reencrypted = after.vaults.find(({ name }) => name === open)
    expect(reencrypted?.items?.[0]?.fields).toMatchObject([{ label: 'KEY', keyVersion: 2, isExposed: false }])
    expect(await errorOf(bot.again().secrets.env({ vault: await vaultIdOf(open) }))).toBeInstanceOf(Error)
  })

  it('believes that a key has ended only when the log says so', async () => {
    const bot = await world.agent('mallory')
    const [key] = (await world.alice.transparency.exposure(bot.principal)).keys
    const { client, wire } = world.device()
    wire.before = (asked) => {
      if (asked === 'POST /user-key/revoke') throw new TypeError('kept from the server')
    }
    const lying: typeof fetch = async (input, init) => {
      if (!String(input).endsWith('/user-key/revoke')) return fetch(input, init)
      return Response.json({ kid: key?.keyId })
    }
    const { client: fooled } = world.device({ fetch: lying })
    expect(await errorOf(fooled.agents.revokeKey(key?.keyId ?? '', 'removed'))).toMatchObject({ code: 'bad_inclusion' })
    expect(await errorOf(client.agents.revokeKey(key?.keyId ?? '', 'removed'))).toBeInstanceOf(Error)
    expect((await world.alice.transparency.exposure(bot.principal)).keys).toMatchObject([{ status: 'active' }])
  })
})

describe('a key that is made where it is used', () => {
  it('waits for a person, is endorsed by its fingerprint, and reads the vaults it is given then', async () => {
    const { alice, url } = world
    const vault = unique('remote')
    await alice.vaults.create({ name: vault })
    await alice.secrets.set(`sr://${vault}/app/KEY`, 'far away')
    const { agent, apiKey, trustAnchor, endorser } = await alice.agents.enrol({ name: unique('far') })
    const { provider, fingerprint } = await generateRuntimeKey({
      principal: `agent:${agent.agentId}`,
      material: keysOf('hybrid'),
    })
    const bot = new Strongroom({
      server: url,
      apiKey: apiKey.reveal(),
      privateKey: provider,
      trustAnchor,
      trustStore: memoryTrust(),
    })
    const { keyId } = await bot.agents.requestEndorsement(endorser)
    expect(await alice.agents.pendingKeys()).toMatchObject([{ keyId, agentId: agent.agentId, fingerprint }])
    expect(await errorOf(bot.secrets.env({ vault: await vaultIdOf(vault) }))).toBeInstanceOf(Error)
    expect(await errorOf(alice.agents.endorse(`agent:${agent.agentId}:${'a'.repeat(32)}`))).toMatchObject({
      name: 'NotFoundError',
    })
    await alice.agents.endorse(keyId, { vaults: [{ vault, role: 'read' }] })
    expect((await bot.secrets.env({ vault })).toObject()).toEqual({ KEY: 'far away' })
    expect(await alice.agents.pendingKeys()).toEqual([])
  })

  it('is endorsed for nothing more than the part of an agent, whatever it asks for', async () => {
    const { agent, endorser } = await world.alice.agents.enrol({ name: unique('greedy') })
    const { provider } = await generateRuntimeKey({ principal: `agent:${agent.agentId}`, material: keysOf('hybrid') })
    const terms = { org: world.founder.orgId, caps: ['agent', 'dir-admin'] as const, at: Date.now(), endorser }
    const event = await requestEndorsement(terms, provider)
    const { client: admin, wire } = world.device()
    // A server that keeps what ours refuses to keep.
    const row = { kid: provider.kid, event, createdAt: new Date().toISOString() }
    wire.tamper = (asked) => (asked.includes('/pending') ? { data: [row] } : undefined)
    expect(await errorOf(admin.agents.endorse(provider.kid))).toMatchObject({ code: 'not_authorised' })
    expect(wire.asked.filter((asked) => asked.startsWith('POST'))).toEqual([])
  })

  it('is endorsed for no agent that has a key, by nobody who remembers nothing of that agent either', async () => {
    const other = await world.agent('deploy')
    const { provider } = await generateRuntimeKey({ principal: other.principal, material: keysOf('hybrid') })
    const terms = { org: world.founder.orgId, caps: ['agent'] as const, at: Date.now() }
    const event = await requestEndorsement({ ...terms, endorser: world.founder.identity.kid }, provider)
    const { client: admin, wire } = world.device({ trustStore: memoryTrust() })
    // A server that gave a new agent the id of one that is there, and says that it took the signature.
    const row = { kid: provider.kid, event, createdAt: new Date().toISOString() }
    wire.tamper = (asked) => (asked.includes('/pending') ? { data: [row] } : undefined)
    expect(await errorOf(admin.agents.endorse(provider.kid))).toMatchObject({ code: 'key_substitution' })
    expect(wire.asked.filter((asked) => asked.startsWith('POST'))).toEqual([])
    // Where the key that was there has ended, another one may follow.
    const [lost] = await world.alice.transparency.keys(other.principal)
    await world.alice.agents.revokeKey(lost?.keyId ?? '', 'removed')
    expect(await admin.agents.endorse(provider.kid)).toEqual({ keyId: provider.kid })
  })
})

describe('the keys of a principal', () => {
  it('are all in the answer, ended ones too, and have words that tell them apart', async () => {
    const { alice } = world
    const bot = await world.agent('deploy')
    const { keyId } = await bot.client.agents.rotateRuntimeKey({ save: () => undefined })
    const keys = await alice.transparency.keys(bot.principal)
    expect(keys.map(({ status, ended }) => [status, ended !== null])).toEqual([
      ['superseded', true],
      ['active', false],
    ])
    expect(keys[1]?.keyId).toBe(keyId)
    expect(new Set(keys.map((key) => keyWords(key.keyId))).size).toBe(2)
    expect(await errorOf(alice.transparency.keys('deploy'))).toMatchObject({ code: 'config_invalid' })
  })

  it('have the same words everywhere', () => {
    expect(keyWords(`agent:agt_1:${'a'.repeat(32)}`)).toBe('acorn-acorn-acorn-00')
    expect(keyWords(`user:ou_1:${'7'.repeat(32)}`)).toBe('zephyr-zephyr-zephyr-47')
    expect(keyWords('user:ou_1:bcdefghijklmnopqrstuvwxyz2345672')).toBe('apple-iris-cobalt-23')
    expect(() => keyWords('deploy')).toThrow(TypeError)
  })
})

it('ends older vault keys when what is under them is encrypted anew, and says so before and after', async () => {
  const { alice } = world
  const vault = unique('older')
  await alice.vaults.create({ name: vault })
  await alice.secrets.set(`sr://${vault}/app/KEPT`, 'same')
  const bot = await world.agent('worker', { vaults: [{ vault, role: 'read' }] })
  await alice.permissions.revoke({ vault }, bot.principal)
  expect(await alice.vaults.get(vault)).toMatchObject({ olderKeys: [1], rotationDue: null })
  expect(await alice.vaults.reencrypt(vault)).toEqual({ items: 1, fields: 1, attachments: 0 })
  expect(await alice.vaults.get(vault)).toMatchObject({ olderKeys: [] })
  expect(await alice.vaults.reencrypt(vault)).toEqual({ items: 0, fields: 0, attachments: 0 })
  expect((await alice.secrets.get(`sr://${vault}/app/KEPT`)).reveal()).toBe('same')
})

describe('the console that the policy names', () => {
  const BUILD = 'a5'.repeat(32)

  it('is none at first, then the one that an administrator signed, until there is another', async () => {
    const { alice } = world
    expect(await alice.transparency.console()).toBeNull()
    const { treeSize } = await alice.transparency.head()
    const recorded = await alice.transparency.recordConsole(BUILD)
    expect(recorded).toEqual({ build: BUILD, entry: treeSize, policyVersion: 2, isNew: true })
    const { isNew, ...named } = recorded
    expect(await alice.transparency.console()).toEqual(named)
    expect(await alice.transparency.recordConsole(BUILD)).toEqual({ ...named, isNew: false })
    expect((await alice.transparency.head()).treeSize).toBe(treeSize + 1)
    expect(await alice.transparency.recordConsole('b6'.repeat(32))).toMatchObject({ policyVersion: 3, isNew: true })
    expect(await alice.licenses.enable()).toMatchObject({ isNew: false })
    const bot = await world.agent('deployNext', { permissions: ['machine.all'] })
    expect(await bot.client.transparency.console()).toMatchObject({ build: 'b6'.repeat(32), policyVersion: 3 })
  })

  it('is signed by nobody else, and is the hash of a build or nothing', async () => {
    const { alice } = world
    const before = await alice.transparency.console()
    const bot = await world.agent('hybrid', { permissions: ['machine.all'] })
    expect(await errorOf(bot.client.transparency.recordConsole(BUILD))).toBeInstanceOf(PermissionDeniedError)
    for (const wrong of [BUILD.toUpperCase(), BUILD.slice(1), ''])
      expect(await errorOf(alice.transparency.recordConsole(wrong))).toBeInstanceOf(ValidationError)
    expect(await alice.transparency.console()).toEqual(before)
  })

  it('counts as recorded only when the log says so', async () => {
    const lying: typeof fetch = async (input, init) =>
      String(input).endsWith('/directory/policy') ? Response.json({ policyVersion: 4 }) : fetch(input, init)
    const { client } = world.device({ fetch: lying })
    expect(await errorOf(client.transparency.recordConsole(BUILD))).toMatchObject({ code: 'bad_inclusion' })
  })
})
