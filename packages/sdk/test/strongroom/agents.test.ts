import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { fileTrust } from '../../src/engine/trust-file.ts'
import { parseBundle } from '../../src/strongroom/bundle.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { nodePlatform } from '../../src/strongroom/platform-node.ts'
import {
  AuthenticationError,
  NotFoundError,
  PermissionDeniedError,
  RollbackError,
  VerificationError,
} from '../../src/strongroom/public-errors.ts'
import type { Secret } from '../../src/strongroom/secret.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { keysOf, type Wire } from '../engine/server.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// Catches: an agent left behind without keys, a rotation whose new key is lost, a log that is taken on trust, a credential in
// anything that is printed, a vault that goes to whoever has the id that the server gave, a further key for them; a trust store that is read
// before the organisation is pinned in it (seen red).

let world: World
let alice: Strongroom
beforeAll(async () => {
  world = await startWorld()
  alice = world.alice
})
afterAll(() => world.close())

async function vaultWith(value: string): Promise<string> {
  const name = unique('vault')
  await alice.vaults.create({ name })
  await alice.secrets.set(`sr://${name}/app/KEY`, value)
  return name
}

it('creates an agent whose bundle alone reads its secrets', async () => {
  const vault = await vaultWith('v')
  const { agent, bundle, apiKey, privateKeyPem } = await alice.agents.create({
    name: unique('bot'),
    description: 'reads',
    vaults: [{ vault, role: 'read' }],
  })
  const parts = parseBundle(bundle.reveal())
  expect(parts).toEqual({
    server: world.url,
    org: world.founder.orgId,
    agentId: agent.agentId,
    apiKey: apiKey.reveal(),
    privateKey: privateKeyPem.reveal(),
    trustAnchor: world.founder.trustAnchor,
  })
  const client = new Strongroom({ bundle: bundle.reveal() })
  expect((await client.secrets.get(`sr://${vault}/app/KEY`)).reveal()).toBe('v')
  expect(await client.agents.me()).toMatchObject({ agentId: agent.agentId, status: 'active', description: 'reads' })
  expect(await errorOf(client.secrets.set(`sr://${vault}/app/KEY`, 'no'))).toBeInstanceOf(PermissionDeniedError)
})

it('leaves no agent behind that could not be given its vaults', async () => {
  const before = (await alice.agents.list({ status: 'active' }).all()).length
  expect(
    await errorOf(alice.agents.create({ name: unique('bot'), vaults: [{ vault: 'none', role: 'read' }] })),
  ).toBeInstanceOf(NotFoundError)
  const archived = unique('archived')
  const { vaultId } = await alice.vaults.create({ name: archived })
  await alice.vaults.archive(vaultId)
  const refused = alice.agents.create({
    name: unique('bot'),
    vaults: [{ vault: vaultId, role: 'read' }],
    keys: { material: keysOf('deploy') },
  })
  expect(await errorOf(refused)).toMatchObject({ code: 'vault_archived' })
  expect((await alice.agents.list({ status: 'active' }).all()).length).toBe(before)
})

/** A server that names, as the new agent, one that somebody else has the keys of, and says that it took the new key. */
function steerTo(wire: Wire, agentId: string): void {
  wire.before = (asked) => {
    if (asked.includes(agentId) && !asked.startsWith('GET')) throw new TypeError('the agent of the other stays')
  }
  wire.tamper = (asked, answer) => {
    const { agent, ...rest } = answer as { agent: object }
    if (asked === 'POST /agent') return { ...rest, agent: { ...agent, agentId } }
    return asked === 'POST /vault/public-key' ? Response.json({ kid: 'none', status: 'active' }) : undefined
  }
}

it('gives nothing to somebody whose id the server gives to a new agent, neither a vault nor another role in one', async () => {
  const vault = await vaultWith('v')
  const mallory = await world.agent('worker')
  const { client: admin, wire } = world.device()
  steerTo(wire, mallory.agent.agentId)
  const vaults = [{ vault, role: 'admin' as const }]
  const create = () => errorOf(admin.agents.create({ name: unique('bot'), vaults }))
  expect(await create()).toMatchObject({ code: 'key_substitution' })
  expect((await alice.permissions.list({ vault })).map(({ principal }) => principal)).not.toContain(mallory.principal)
  await alice.permissions.grant({ vault }, { principal: mallory.principal, role: 'READ' })
  expect(await create()).toMatchObject({ code: 'key_substitution' })
  const listed = (await alice.permissions.list({ vault })).find(({ principal }) => principal === mallory.principal)
  expect(listed?.role).toBe('READ')
})

it('signs no key for a new agent under the id of one that it knows, also if that one is to get nothing', async () => {
  const vault = await vaultWith('v')
  const other = await world.agent('hybrid')
  const { client: admin, wire } = world.device({ trustStore: memoryTrust() })
  await admin.permissions.grant({ vault }, { principal: other.principal, role: 'READ' })
  steerTo(wire, other.agent.agentId)
  const sent: string[] = []
  wire.before = (asked) => {
    if (!asked.startsWith('GET ')) sent.push(asked)
  }
  expect(await errorOf(admin.agents.create({ name: unique('bot') }))).toMatchObject({ code: 'key_substitution' })
  expect(sent).toEqual(['POST /agent'])
  // Nor is it given to a machine that would make keys under it.
  expect(await errorOf(admin.agents.enrol({ name: unique('edge') }))).toMatchObject({ code: 'key_substitution' })
})

it('gets, updates, archives agents and changes their roles', async () => {
  const { agent } = await world.agent('worker')
  const { agentId } = agent
  expect(await alice.agents.get(agentId)).toMatchObject({ agentId, status: 'active' })
  const renamed = await alice.agents.update(agentId, { name: unique('renamed'), permissions: ['machine.search.read'] })
  expect(renamed.permissions).toEqual(['machine.search.read'])
  const role = { tenantId: world.founder.tenantId, role: 'TENANT_MEMBER' } as const
  expect(await alice.agents.setRoles(agentId, [role])).toEqual({ direct: [role] })
  expect(await alice.agents.roles(agentId)).toEqual({ direct: [role], inherited: [] })
  await alice.agents.archive(agentId)
  expect(await alice.agents.get(agentId)).toMatchObject({ status: 'archived' })
  expect(await errorOf(alice.agents.get('agt_none'))).toBeInstanceOf(NotFoundError)
})

it('limits an agent in time and to networks, and takes both away again', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const { agent, bundle } = await alice.agents.create({ name: unique('bot'), expiresAt, networks: ['192.0.2.0/24'] })
  expect(agent).toMatchObject({ expiresAt, networks: ['192.0.2.0/24'] })
  const client = new Strongroom({ bundle: bundle.reveal() })
  const refused = await errorOf(client.agents.me())
  expect(refused).toBeInstanceOf(PermissionDeniedError)
  expect(refused).toMatchObject({ code: 'network_not_allowed', details: { address: '127.0.0.1' } })
  expect(await alice.agents.update(agent.agentId, { expiresAt: null, networks: [] })).toMatchObject({
    expiresAt: null,
    networks: [],
  })
  expect(await client.agents.me()).toMatchObject({ agentId: agent.agentId })
  const { agent: enrolled } = await alice.agents.enrol({ name: unique('edge'), networks: ['192.0.2.7'] })
  expect(enrolled).toMatchObject({ expiresAt: null, networks: ['192.0.2.7'] })
})

it('rotates an API key: the new one works, the old one is dead, and it is shown once', async () => {
  const bot = await world.agent('worker')
  const key = { idempotencyKey: crypto.randomUUID() }
  const fresh = await alice.agents.rotateApiKey(bot.agent.agentId, key)
  const parts = parseBundle(bot.bundle.reveal())
  const { server, privateKey, trustAnchor } = parts
  const client = new Strongroom({ server, apiKey: async () => fresh.reveal(), privateKey, trustAnchor })
  expect((await client.me()).id).toBe(bot.principal)
  expect(await errorOf(bot.client.me())).toBeInstanceOf(AuthenticationError)
  expect(await errorOf(alice.agents.rotateApiKey(bot.agent.agentId, key))).toMatchObject({
    code: 'secret_already_shown',
  })
})

it('rotates the runtime key: saved before it is sent, every vault rewrapped, the client goes on', async () => {
  const [one, two] = [await vaultWith('1'), await vaultWith('2')]
  const bot = await world.agent('deploy', { vaults: [one, two].map((vault) => ({ vault, role: 'read' })) })
  let saved: Secret | undefined
  const sizes: number[] = [(await alice.transparency.head()).treeSize]
  const progress: string[] = []
  const { keyId, rewrapped } = await bot.client.agents.rotateRuntimeKey(
    {
      keys: { material: keysOf('deployNext') },
      save: async ({ bundle }) => {
        saved = bundle
        sizes.push((await alice.transparency.head()).treeSize)
      },
    },
    { onProgress: (done, total) => progress.push(`${done}/${total}`) },
  )
  expect([rewrapped, progress]).toEqual([2, ['1/2', '2/2']])
  sizes.push((await alice.transparency.head()).treeSize)
  expect(sizes.map((size) => size - (sizes[0] ?? 0))).toEqual([0, 0, 1])
  expect(keyId).toMatch(new RegExp(`^${bot.principal}:`))
  expect((await bot.client.secrets.get(`sr://${one}/app/KEY`)).reveal()).toBe('1')
  const renewed = new Strongroom({ bundle: saved?.reveal() ?? '' })
  expect((await renewed.secrets.get(`sr://${two}/app/KEY`)).reveal()).toBe('2')
  expect(await errorOf(bot.again().secrets.get(`sr://${two}/app/KEY`))).toMatchObject({ name: 'NoWrappedKeyError' })
})

it('sends nothing if the new key cannot be saved', async () => {
  const vault = await vaultWith('1')
  const bot = await world.agent('deploy', { vaults: [{ vault, role: 'read' }] })
  const rotation = bot.client.agents.rotateRuntimeKey({
    keys: { material: keysOf('deployNext') },
    save: () => {
      throw new Error('disk full')
    },
  })
  expect((await errorOf(rotation)).cause).toMatchObject({ message: 'disk full' })
  expect((await bot.again().secrets.get(`sr://${vault}/app/KEY`)).reveal()).toBe('1')
})

it('verifies the log: signature, consistency, every entry, and every change for who may read it all', async () => {
  const vault = await vaultWith('1')
  const { client } = world.device()
  const steps: string[] = []
  const report = await client.transparency.verify({ replay: true, onStep: ({ step }) => steps.push(step) })
  expect(steps).toEqual(['checkpoint-signature', 'consistency', 'signer-directory', 'inclusion', 'replay'])
  expect(report.previous).toBeUndefined()
  const bot = await world.agent('worker')
  const again = await client.transparency.verify()
  expect(again.previous).toMatchObject({ treeSize: report.head.treeSize, rootHash: report.head.rootHash })
  expect(again.newSigners.map(({ keyId }) => keyId)).toEqual([expect.stringContaining(bot.principal)])
  expect(await client.transparency.head()).toEqual(again.head)
  const entries = []
  for await (const entry of client.transparency.entries({ from: 0, to: 2 })) entries.push(entry)
  expect(entries.map(({ index, type }) => [index, type])).toEqual([
    [0, 'org.genesis'],
    [1, expect.any(String)],
  ])
  expect(await client.transparency.trust.alarms()).toEqual([])
  client.transparency.trust.confirm(`${bot.principal}:nobody`)
  await client.vaults.get(vault)
  expect((await client.transparency.trust.list()).map(({ keyId }) => keyId)).toEqual([world.founder.identity.kid])
  const anchor = await client.transparency.trust.export()
  expect(anchor).toMatch(/^vta1\./)
  const later = world.device({ trustAnchor: anchor }).client
  expect((await later.transparency.verify()).previous).toMatchObject({ treeSize: again.head.treeSize })
})

it('says whom it trusts also where nothing else was asked before', async () => {
  for (const ask of ['list', 'alarms'] as const)
    expect(await world.device().client.transparency.trust[ask]()).toEqual([])
})

it('refuses a log whose entries are not those that were signed', async () => {
  const { client, wire } = world.device()
  wire.tamper = (asked, answer) => {
    if (!asked.startsWith('GET /transparency/entries')) return undefined
    const { entries, ...rest } = answer as { entries: { leaf: string }[] }
    const [first, second] = entries
    return {
      ...rest,
      entries: entries.map((entry, i) =>
        i === 1 ? { ...entry, leaf: first?.leaf } : i === 0 ? { ...entry, leaf: second?.leaf } : entry,
      ),
    }
  }
  const error = await errorOf(client.transparency.verify())
  expect(error).toBeInstanceOf(VerificationError)
  expect(error).toMatchObject({ code: 'bad_inclusion', stage: 'log' })
})

it('refuses a server that goes back behind what this client has seen, and keeps the evidence', async () => {
  const vault = await vaultWith('old')
  const { vaultId } = await alice.vaults.get(vault)
  const answers = new Map<string, unknown>()
  let isOld = false
  const kept: unknown[] = []
  const { client, wire } = world.device({
    onEvidence: (evidence) => {
      kept.push(evidence)
      return 'evidence-1.json'
    },
  })
  wire.tamper = (asked, answer) => {
    if (isOld) return answers.get(asked)
    answers.set(asked, answer)
    return undefined
  }
  await client.secrets.env({ vault: vaultId })
  await alice.secrets.set(`sr://${vault}/app/KEY`, 'new')
  const { client: other } = world.device()
  await other.secrets.env({ vault: vaultId })
  wire.tamper = undefined
  await client.secrets.env({ vault: vaultId })
  isOld = true
  wire.tamper = (asked) => answers.get(asked)
  const error = await errorOf(client.secrets.env({ vault: vaultId }))
  expect(error).toBeInstanceOf(RollbackError)
  expect(error).toMatchObject({ code: 'log_rollback', stage: 'log', evidence: 'evidence-1.json', retryable: false })
  expect(kept).toHaveLength(1)
  expect((await client.transparency.trust.alarms()).map(({ code }) => code)).toEqual(['log_rollback'])
})

const env = (variables: Record<string, string>, directory: string) => ({
  ...nodePlatform,
  env: () => ({
    STRONGROOM_TRUST_STORE: join(directory, 'trust.json'),
    STRONGROOM_CACHE_DIR: join(directory, 'cache'),
    ...variables,
  }),
})

it('starts from the environment: one variable, or its parts, or files', async () => {
  const vault = await vaultWith('v')
  const bot = await world.agent('deploy', { vaults: [{ vault, role: 'read' }] })
  const directory = world.directory()
  const bundle = bot.bundle.reveal()
  const { server, apiKey, privateKey, trustAnchor } = parseBundle(bundle)
  writeFileSync(join(directory, 'key.pem'), privateKey)
  writeFileSync(join(directory, 'bundle'), `${bundle}\n`)
  const parts = { STRONGROOM_SERVER: server, STRONGROOM_API_KEY: apiKey, STRONGROOM_TRUST_ANCHOR: trustAnchor }
  const ways: Record<string, string>[] = [
    { STRONGROOM_BUNDLE: bundle },
    { STRONGROOM_BUNDLE_FILE: join(directory, 'bundle') },
    { ...parts, STRONGROOM_PRIVATE_KEY: privateKey },
    { ...parts, STRONGROOM_PRIVATE_KEY_FILE: join(directory, 'key.pem') },
  ]
  for (const variables of ways) {
    const client = NodeStrongroom.fromEnv({}, env(variables, directory))
    expect(client).toBeInstanceOf(NodeStrongroom)
    expect((await client.secrets.env({ vault })).toObject()).toEqual({ KEY: 'v' })
  }
  expect(readFileSync(join(directory, 'trust.json'), 'utf8')).toContain(world.founder.orgId)
  // The answer, which vault the name led to, and what the keys remember; however often it is read.
  expect(readdirSync(join(directory, 'cache'))).toHaveLength(3)
})

it('shares opened keys with a copy, and nothing where another credential is given', async () => {
  const vault = await vaultWith('v')
  const { client, wire } = world.device()
  await client.secrets.env({ vault })
  wire.asked.length = 0
  const copy = client.withOptions({ timeout: 5_000, maxRetries: 0 })
  await copy.secrets.env({ vault })
  expect(wire.asked).toHaveLength(1)
  const bot = await world.agent('deploy')
  const { apiKey, privateKey, agentId } = parseBundle(bot.bundle.reveal())
  const other: StrongroomOptions = { apiKey, privateKey, agentId, trustStore: memoryTrust() }
  const { founder, url } = world
  const base = new Strongroom({ server: url, trustAnchor: founder.trustAnchor })
  expect(await errorOf(base.withOptions(other).secrets.env({ vault }))).toBeInstanceOf(NotFoundError)
  expect(base.withOptions({}).constructor).toBe(Strongroom)
})

it('prints nothing of what it was given', async () => {
  const bot = await world.agent('deploy')
  const bundle = bot.bundle.reveal()
  const { apiKey, privateKey } = parseBundle(bundle)
  const client = new Strongroom({ bundle, trustStore: fileTrust(join(world.directory(), 'trust.json')) })
  await client.me()
  const texts = [client, bot.bundle, bot.apiKey, bot.privateKeyPem].flatMap((one) => [
    inspect(one, { depth: 10, showHidden: true, getters: true }),
    JSON.stringify(one),
    String(one),
    `${one}`,
    inspect({ nested: [one] }, { depth: 10 }),
  ])
  const secret = apiKey.split('.')[1] ?? ''
  const pem = privateKey.split('\n')[1] ?? ''
  for (const text of texts)
    for (const leak of [bundle.slice(20, 60), secret, pem]) expect(text.includes(leak)).toBe(false)
})
