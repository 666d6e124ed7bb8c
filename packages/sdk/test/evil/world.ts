import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encodePem, type NoteSigner, parseTrustAnchor, verifyCheckpoint } from '@strongroom/protocol'
import { type Harness, startHarness } from '../../../server/test/harness.ts'
import { LOG_KEY, provideServerSecret } from '../../../server/test/operator.ts'
import { foundOrg } from '../../../server/test/people.ts'
import type { Attack } from '../../evil-server/attack.ts'
import { accompliceOf, logKeyOf, ownKeys } from '../../evil-server/keys.ts'
import { type Evil, startEvil } from '../../evil-server/proxy.ts'
import { makeRecords, type Records } from '../../evil-server/records.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import { makeCosigner } from '../../src/monitor/cosigner.ts'
import type { FirstPerson } from '../../src/people.ts'
import type { CreatedAgent } from '../../src/strongroom/agents.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { type KeyName, keysOf } from '../engine/server.ts'
import { makeSigner } from '../monitor/small-log.ts'
import type { Place } from './deeds.ts'
import type { Done, Job, Who } from './victim.ts'

// A real server with an organisation in which things have happened, the evil server before it, and a victim in a process of its own.

/** Part of every value: whatever it shows up in has let a value out. */
export const CANARY = 'canary-7f3a'

export interface EvilWorld {
  readonly h: Harness
  readonly evil: Evil
  readonly records: Records
  readonly founder: FirstPerson
  readonly alice: Strongroom
  readonly place: Place
  readonly reader: Who
  readonly witnessed: Who
  readonly owner: Who
  readonly readerBundle: string
  readonly logKeyPem: string
  /** Does something as somebody, with what was remembered in that home directory. */
  act(who: Who, deed: Job['deed'], home: string): Promise<Done>
  /** What the victim's process has printed. */
  printed(): string
  /** A new home directory, like another one if that is given. */
  home(like?: string): string
  /** Who meets an attack. */
  victimOf(attack: Attack): Who
  close(): Promise<void>
}

const VICTIM = fileURLToPath(new URL('./victim.ts', import.meta.url))
const HOUR = 3_600_000

export async function startEvilWorld(): Promise<EvilWorld> {
  const h = await startHarness()
  const founder = await foundOrg(h)
  const alice = new Strongroom({
    server: h.url,
    accessToken: founder.accessToken,
    privateKey: founder.identity,
    trustAnchor: founder.trustAnchor,
    trustStore: memoryTrust(),
  })
  const agent = (key: KeyName, vaults: NonNullable<Parameters<Strongroom['agents']['create']>[0]['vaults']>) =>
    alice.agents.create({ name: key, keys: { material: keysOf(key) }, vaults })
  const prod = await alice.vaults.create({ name: 'prod' })
  const other = await alice.vaults.create({ name: 'other' })
  const [victim, writer, admin, outsider, newcomer] = [
    await agent('deploy', [
      { vault: prod.vaultId, role: 'read' },
      { vault: other.vaultId, role: 'read' },
    ]),
    await agent('bob', [{ vault: prod.vaultId, role: 'write' }]),
    await agent('carol', [{ vault: prod.vaultId, role: 'admin' }]),
    await agent('dave', []),
    await agent('worker', []),
  ] as const
  await fill(alice, prod.vaultId, other.vaultId)
  const project = await alice.projects.create({ name: 'store', vaults: [prod.vaultId, other.vaultId] })
  await alice.permissions.grant({ project: project.id }, { principal: `agent:${victim.agent.agentId}`, role: 'READ' })

  const records = makeRecords()
  const logKeyPem = await logKeyOfServer(h)
  const evil = await startEvil({
    upstream: h.url,
    keys: ownKeys(keysOf('mallory')),
    accomplices: await Promise.all([writer, admin, outsider].map(({ bundle }) => accompliceOf(bundle.reveal()))),
    logKey: logKeyOf(logKeyPem),
    records,
  })
  const attachment = await attach(alice, prod.vaultId)
  const place: Place = {
    vaultId: prod.vaultId,
    item: 'db',
    project: project.id,
    newcomer: `agent:${newcomer.agent.agentId}`,
    attachment,
    nextKeys: encodePem(keysOf('deployNext')),
  }
  const reader: Who = {
    server: evil.url,
    principal: `agent:${victim.agent.agentId}`,
    apiKey: victim.apiKey.reveal(),
    privateKey: victim.privateKeyPem.reveal(),
    trustAnchor: founder.trustAnchor,
  }
  const owner: Who = {
    server: evil.url,
    principal: founder.identity.key.principal,
    accessToken: founder.accessToken,
    privateKey: encodePem(keysOf('alice')),
    trustAnchor: founder.trustAnchor,
  }
  const child = startVictim()
  const homes = mkdtempSync(join(tmpdir(), 'sr-evil-'))
  const home = (like?: string): string => {
    const made = mkdtempSync(join(homes, 'home-'))
    if (like !== undefined) cpSync(like, made, { recursive: true })
    return made
  }
  const act = (who: Who, deed: Job['deed'], at: string, more: Partial<Place> = {}): Promise<Done> =>
    child.run({ home: at, deed, place: { ...place, ...more }, who })
  /** The victim reads everything once, so that it is recorded. */
  const readAll = async (): Promise<void> => {
    const at = home()
    await act(reader, 'env', at)
    await act(reader, 'env', at, { vaultId: other.vaultId })
    for (const item of ['db', 'mail']) await act(reader, 'item', at, { item })
  }
  await readAll()
  await change(alice, writerOf(h, writer), prod.vaultId, other.vaultId)
  const witness = await cosigned(h, founder, () => readAll())
  const witnessed: Who = {
    ...reader,
    verify: { witnesses: { keys: [witness], quorum: 1 }, maxCheckpointAge: '1h', maxWitnessWait: 0 },
  }
  return {
    h,
    evil,
    records,
    founder,
    alice,
    place,
    reader,
    witnessed,
    owner,
    readerBundle: victim.bundle.reveal(),
    logKeyPem,
    act,
    home,
    printed: child.printed,
    victimOf: ({ deed, witnessed: isWitnessed }) => (deed === 'share' ? owner : isWitnessed ? witnessed : reader),
    close: async () => {
      await child.close()
      await evil.close()
      await h.close()
      rmSync(homes, { recursive: true, force: true })
    },
  }
}

const writerOf = ({ url }: Harness, { bundle }: CreatedAgent): Strongroom =>
  new Strongroom({ bundle: bundle.reveal(), server: url, trustStore: memoryTrust() })

async function fill(alice: Strongroom, prod: string, other: string): Promise<void> {
  const env = (label: string, value: string) => ({ label, value, isEnvironmentVariable: true })
  const note = { label: 'note', value: `${CANARY} note`, isEnvironmentVariable: false }
  const fields = [env('DB_PASSWORD', `${CANARY} first`), env('DB_URL', `${CANARY} url`), note]
  await alice.items.create(prod, { name: 'db', website: 'https://db.example', fields })
  await alice.items.create(prod, { name: 'mail', fields: [env('MAIL_KEY', `${CANARY} mail`)] })
  await alice.items.create(prod, { name: 'old', fields: [env('OLD_KEY', `${CANARY} old`)] })
  await alice.items.create(prod, { name: 'moved', fields: [env('MOVED_KEY', `${CANARY} moved`)] })
  await alice.items.create(other, { name: 'x', fields: [env('OTHER_KEY', `${CANARY} other`)] })
  await alice.items.archive(prod, 'old')
}

/** One file of three segments and one more; gives the first. */
async function attach(alice: Strongroom, vault: string): Promise<string> {
  const content = Buffer.alloc(2_200_000, `${CANARY} file `)
  const { assetId } = await alice.attachments.upload(vault, 'db', content, { name: `${CANARY}.bin` })
  await alice.attachments.upload(vault, 'db', Buffer.from(`${CANARY} small`), { name: 'small.txt' })
  return assetId
}

/** What a server that goes back would hide: an item moved away, another vault key, another value. */
async function change(alice: Strongroom, writer: Strongroom, prod: string, other: string): Promise<void> {
  await alice.items.move(prod, 'moved', { vault: other })
  await alice.vaults.rotateKey(prod)
  // Last, so that the head is that of somebody whom an admin endorsed.
  await writer.secrets.set(`sr://${prod}/db/DB_PASSWORD`, `${CANARY} second`)
}

/** The log was opened with the organisation, so the key is there: what would be made is not taken. */
async function logKeyOfServer({ deps }: Harness): Promise<string> {
  const pkcs8 = await provideServerSecret(deps, LOG_KEY, () => new Uint8Array(48))
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n`
}

/** Cosigns the newest checkpoint as of two hours ago, lets that be read, and cosigns it again. Gives the key of the witness. */
async function cosigned(
  { url: _ }: Harness,
  { client, trustAnchor }: FirstPerson,
  read: () => Promise<void>,
): Promise<string> {
  const signer: NoteSigner = makeSigner()
  const { origin, logVkeys } = parseTrustAnchor(trustAnchor)
  const at = (now: number) => makeCosigner('witness.example/w', signer, () => now)
  const { vkey } = at(0)
  await client.transparency.setWitnesses({ body: { witnesses: [{ vkey }] } })
  const { checkpoint: note, size } = await client.transparency.checkpoint()
  const checkpoint = await verifyCheckpoint(note, { origin, logKeys: logVkeys })
  for (const time of [Date.now() - 2 * HOUR, Date.now()]) {
    const line = await at(time).cosign(checkpoint)
    await client.transparency.addCosignatures({ body: { size, signatures: [line] } })
    await read()
  }
  return vkey
}

function startVictim(): { run(job: Job): Promise<Done>; printed(): string; close(): Promise<void> } {
  const child: ChildProcess = fork(VICTIM, [], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced' })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  const ended = once(child, 'close')
  return {
    run: async (job) => {
      child.send(job)
      const [done] = (await Promise.race([
        once(child, 'message'),
        ended.then(() => {
          throw new Error(`the victim ended: ${text}`)
        }),
      ])) as [Done]
      return done
    },
    printed: () => text,
    close: async () => {
      child.kill()
      await ended
    },
  }
}

/** Undefined for what is gone by now: a client that reads several items at once may still let go of a lock. */
function textIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

/** Every file under a directory, as one text. */
export function everythingIn(directory: string): string {
  if (!existsSync(directory)) return ''
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => textIfThere(join(entry.parentPath, entry.name)) ?? '')
    .join('\n')
}
