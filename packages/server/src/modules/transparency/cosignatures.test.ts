import { generateKeyPairSync, sign } from 'node:crypto'
import {
  addNoteSignatures,
  cosign,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSigner,
  parseVkey,
  verifyCheckpoint,
  verifyTransparency,
} from '@strongroom/protocol'
import type { Client } from '@strongroom/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { logCounts } from '../../../test/log-audit.ts'
import { type LogOrg, makeLogOrg } from '../../../test/log-org.ts'
import { codeOf, refusal } from '../../../test/people.ts'
import { seedUser } from '../../../test/principals.ts'
import { inOrg } from '../../context.ts'

// Catches: a line kept that does not verify or that nobody registered (a client that knows its key would refuse an honest
// checkpoint), a line of one checkpoint shown under another, an older cosignature in place of a newer one, a witness of one
// organisation in another, lines of a witness that is no longer listed, a line that hides a second text.
// Seen red: lines kept with the next checkpoint, unregistered lines passed over, any time accepted, the older in place of the newer,
// lines of keys that are not listed.

const READ = 'machine.transparency.read'

interface TestWitness {
  readonly vkey: string
  line(note: string, seconds?: number): Promise<string>
}

let h: Harness
let org: LogOrg
let client: Client
let admin: Client
let witness: TestWitness
beforeEach(async () => {
  h = await startHarness()
  org = await makeLogOrg(h, 'acme')
  client = (await h.agent(org, [READ])).client
  admin = (await seedUser(h, org, { orgRoles: ['ORG_ADMIN'] })).client
  witness = makeTestWitness('w.example/one')
  await register(witness)
})
afterEach(() => h.close())

const now = (): number => Math.floor(h.deps.now().getTime() / 1000)
const logTrust = (of: LogOrg = org) => ({ origin: of.pin.origin, logKeys: of.pin.logKeys })

function makeTestWitness(name: string): TestWitness {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url')
  const signer: NoteSigner = { publicKey: key, sign: (message) => sign(null, message, privateKey) }
  return {
    vkey: makeVerifierKey(name, NOTE_COSIGNATURE, key).vkey,
    line: async (note, seconds = now()) => {
      const [origin = ''] = note.split('\n')
      const checkpoint = await verifyCheckpoint(note, { ...logTrust(), origin })
      const cosigned = addNoteSignatures(note, [await cosign(checkpoint, name, signer, seconds)])
      return cosigned.trimEnd().split('\n').at(-1) as string
    },
  }
}

const register = (...list: readonly TestWitness[]) =>
  admin.transparency.setWitnesses({ body: { witnesses: list.map(({ vkey }) => ({ vkey })) } })
const grow = async (name: string) => org.append([await org.keyAdd(await identityOf('deploy', `agent:${name}`))])
const add = (size: number, ...signatures: readonly string[]) =>
  client.transparency.addCosignatures({ body: { size, signatures: [...signatures] } })

/** Who has cosigned the checkpoint that is served, by name and second; refuses as a client would. */
async function cosigners(note: string, ...known: readonly TestWitness[]) {
  const witnesses = known.map(({ vkey }) => ({ key: parseVkey(vkey) }))
  const { cosignatures } = await verifyCheckpoint(note, { ...logTrust(), cosigners: { witnesses } })
  return cosignatures.map(({ key, timestamp }) => [key.name, timestamp])
}

it('carries a cosignature with its checkpoint in every answer, and not with the next one', async () => {
  const { checkpoint, size } = await client.transparency.checkpoint()
  const at = now()
  const answer = await add(size, await witness.line(checkpoint, at))
  const read = async () => [
    (await client.transparency.checkpoint()).checkpoint,
    (await client.transparency.state({ query: { name: 'policy' } })).checkpoint,
    (await client.transparency.proof({ params: { index: 0 } })).checkpoint,
  ]
  for (const note of [answer.checkpoint, ...(await read())])
    expect(await cosigners(note, witness)).toEqual([['w.example/one', at]])
  await grow('ag_next')
  for (const note of await read()) expect(await cosigners(note, witness)).toEqual([])
  const old = await client.transparency.proof({ params: { index: 0 }, query: { size } })
  expect(await cosigners(old.checkpoint, witness)).toEqual([['w.example/one', at]])
})

it('lets a client ask for a quorum, and refuses it as long as the witness is silent', async () => {
  const pin = { ...org.pin, witnessPolicy: `witness w ${witness.vkey}\nquorum w\n` }
  const freshness = { now: h.deps.now().getTime(), maxStaleMs: 60_000 }
  const read = () => client.transparency.state({ query: { name: 'policy' } })
  await expect(verifyTransparency(await read(), pin, freshness)).rejects.toMatchObject({ code: 'witness_quorum' })
  const { checkpoint, size } = await client.transparency.checkpoint()
  await add(size, await witness.line(checkpoint))
  expect((await verifyTransparency(await read(), pin, freshness)).witnessed).toBe(true)
  await expect(
    verifyTransparency(await read(), pin, { ...freshness, now: freshness.now + 120_000 }),
  ).rejects.toMatchObject({ code: 'stale_view' })
})

it('keeps the newest of one witness, and takes one for an older size for that size', async () => {
  const { checkpoint, size } = await client.transparency.checkpoint()
  const other = makeTestWitness('w.example/two')
  await register(witness, other)
  for (const seconds of [now() - 50, now() - 10, now() - 90]) await add(size, await witness.line(checkpoint, seconds))
  await grow('ag_next')
  await add(size, await other.line(checkpoint))
  const old = (await client.transparency.proof({ params: { index: 0 }, query: { size } })).checkpoint
  const named = await cosigners(old, witness, other)
  expect(named.map(([name]) => name).sort()).toEqual(['w.example/one', 'w.example/two'])
  expect(named.find(([name]) => name === 'w.example/one')?.[1]).toBeLessThanOrEqual(now() - 10)
  expect(named.find(([name]) => name === 'w.example/one')?.[1]).toBeGreaterThan(now() - 45)
  expect(await cosigners((await client.transparency.checkpoint()).checkpoint, witness, other)).toEqual([])
})

const kept = () =>
  inOrg(h.deps, org.orgId, async (db) => ({
    log: await db.selectFrom('log_state').selectAll().execute(),
    lines: await db.selectFrom('log_cosignature').selectAll().execute(),
    witnesses: await db.selectFrom('log_witness').select('vkey').execute(),
  }))

it('keeps nothing that a client who knows the key would refuse', async () => {
  const { checkpoint, size } = await client.transparency.checkpoint()
  await grow('ag_next')
  const next = await client.transparency.checkpoint()
  const [good, stranger] = [await witness.line(checkpoint), await makeTestWitness('w.example/one').line(checkpoint)]
  const broken = good.slice(0, -6) + (good.endsWith('AAAA==') ? 'BBBB==' : 'AAAA==')
  const [, , encoded = ''] = good.split(' ')
  const before = await kept()
  const counts = await logCounts(h.deps, org.orgId)
  const cases: readonly (readonly [readonly string[], string, number?])[] = [
    [[broken], 'invalid_signature'],
    // Of the checkpoint of another size.
    [[await witness.line(next.checkpoint)], 'invalid_signature'],
    [[good, broken], 'invalid_signature'],
    [[good, good], 'invalid_signature'],
    [[await witness.line(checkpoint, now() + 3600)], 'invalid_signature'],
    [[stranger], 'witness_not_registered'],
    [[good, stranger], 'witness_not_registered'],
    [[`\u2014 other.example/w ${encoded}`], 'witness_not_registered'],
    // The log's own signature is no cosignature.
    [[checkpoint.trimEnd().split('\n').at(-1) as string], 'witness_not_registered'],
    [[good], 'leaf_not_found', size + 2],
    [[`${good}\n\n${good}`], 'validation_failed'],
    [[`${good}\n`], 'validation_failed'],
    [['x'], 'validation_failed'],
    [[], 'validation_failed'],
  ]
  for (const [lines, code, at = size] of cases) expect(await codeOf(add(at, ...lines))).toBe(code)
  expect(await kept()).toEqual(before)
  expect((await logCounts(h.deps, org.orgId)) as object).toMatchObject({ state: (counts as { state: object }).state })
})

it('has witnesses for each organisation apart', async () => {
  const other = await makeLogOrg(h, 'globex')
  const stranger = (await h.agent(other, [READ])).client
  const { checkpoint, size } = await stranger.transparency.checkpoint()
  const body = { size, signatures: [await witnessOf(other, checkpoint)] }
  expect(await codeOf(stranger.transparency.addCosignatures({ body }))).toBe('witness_not_registered')
  const boss = (await seedUser(h, other, { orgRoles: ['ORG_OWNER'] })).client
  expect((await boss.transparency.witnesses()).witnesses).toEqual([])
  expect((await admin.transparency.witnesses()).witnesses).toEqual([{ vkey: witness.vkey }])
})

async function witnessOf({ pin }: LogOrg, note: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = {
    publicKey: parseVkey(witness.vkey).publicKey,
    sign: (message: Uint8Array) => sign(null, message, privateKey),
  }
  // The key of the registered witness by name and id: whether it signed does not matter where it is not registered.
  const checkpoint = await verifyCheckpoint(note, { origin: pin.origin, logKeys: pin.logKeys })
  const cosigned = addNoteSignatures(note, [await cosign(checkpoint, 'w.example/one', signer, now())])
  return cosigned.trimEnd().split('\n').at(-1) as string
}

it('shows no lines of a witness that is taken off the list', async () => {
  const { checkpoint, size } = await client.transparency.checkpoint()
  await add(size, await witness.line(checkpoint))
  await register()
  const served = await client.transparency.checkpoint()
  expect(served.checkpoint).toBe(checkpoint)
  expect((await client.transparency.proof({ params: { index: 0 } })).checkpoint).toBe(checkpoint)
})

it('lists only keys that cosign, at most 16, and only for who runs the organisation', async () => {
  const logKey = makeVerifierKey('x', NOTE_SIGNATURE, parseVkey(witness.vkey).publicKey).vkey
  const put = (vkeys: readonly string[], by = admin) =>
    by.transparency.setWitnesses({ body: { witnesses: vkeys.map((vkey) => ({ vkey })) } })
  const before = await kept()
  expect(await codeOf(put([logKey]))).toBe('invalid_document')
  const otherId = witness.vkey.replace(/\+[0-9a-f]{8}\+/, (id) =>
    id.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0')),
  )
  expect(await codeOf(put([otherId]))).toBe('invalid_document')
  expect(await codeOf(put(Array.from({ length: 17 }, (_, i) => makeTestWitness(`w${i}`).vkey)))).toBe(
    'validation_failed',
  )
  const member = (await seedUser(h, org, { tenantRoles: ['TENANT_ADMIN'] })).client
  expect(await codeOf(put([witness.vkey], member))).toBe('role_required')
  expect(await refusal(put([], client))).toMatchObject({ status: 403 })
  expect(await kept()).toEqual(before)
})

it('never shows lines under another checkpoint while twenty cosign and others write', async () => {
  const others = Array.from({ length: 8 }, (_, i) => makeTestWitness(`w${i}.example/w`))
  await register(...others)
  const calls = Array.from({ length: 24 }, async (_, i) => {
    if (i % 4 === 0) return void (await grow(`ag_t${i}xx`))
    const { checkpoint, size } = await client.transparency.checkpoint()
    const one = others[i % others.length] as TestWitness
    const [bare = ''] = checkpoint.split(/(?<=\n\n\u2014 [^\n]+\n)/)
    const answer = await add(size, await one.line(bare))
    await cosigners(answer.checkpoint, ...others)
    await cosigners((await client.transparency.checkpoint()).checkpoint, ...others)
  })
  await Promise.all(calls)
  const { checkpoint, size } = await client.transparency.checkpoint()
  for (const one of others) await add(size, await one.line(checkpoint))
  expect(await cosigners((await client.transparency.checkpoint()).checkpoint, ...others)).toHaveLength(8)
})
