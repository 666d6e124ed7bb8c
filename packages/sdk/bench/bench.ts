import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startMeasured } from '../../server/bench/processes.ts'
import { makeVaultWorld, type VaultWorld } from '../../server/bench/vault-world.ts'
import { freePort } from '../../server/test/process.ts'
import { build } from '../scripts/build.ts'
import { formatBundle } from '../src/strongroom/bundle.ts'

// What a program waits for that only reads its secrets: loading the published client, and the first verified read of fifty fields from
// a server on this machine. Beside it the same with the protocol alone, from the recorded bytes of the same answer: what cannot be
// saved. Each in a fresh process, in turn.

const ROUNDS = 15
const LIMIT = 3
const root = fileURLToPath(new URL('../../..', import.meta.url))
const THIRD_PARTY = ['@noble/curves', '@noble/hashes', '@noble/post-quantum', '@serenity-kit/opaque', 'typebox']

interface Spent {
  readonly milliseconds: number
  readonly cpuMilliseconds: number
  readonly loadedMilliseconds: number
  readonly fields: number
}

/** The packages as they are installed: nothing is found that is not published. */
function install(place: string): string {
  const packages = build(join(place, 'packages'))
  const modules = join(place, 'project/node_modules')
  mkdirSync(join(modules, '@strongroom'), { recursive: true })
  for (const [name, path] of Object.entries(packages))
    cpSync(path, join(modules, '@strongroom', name), { recursive: true })
  for (const name of THIRD_PARTY) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return join(place, 'project')
}

const measured = (load: string, read: string): string => `
const start = performance.now(), used = process.cpuUsage()
${load}
const loaded = performance.now()
${read}
const { user, system } = process.cpuUsage(used), end = performance.now()
process.send({ milliseconds: end - start, loadedMilliseconds: loaded - start, cpuMilliseconds: (user + system) / 1000, fields })
process.disconnect()
`

const WITH_SDK = measured(
  `const { Strongroom } = await import('@strongroom/sdk')`,
  `const env = await Strongroom.fromEnv().secrets.env({ vault: process.env.VAULT })
const fields = Object.keys(env.toObject()).length`,
)

const WITH_PROTOCOL = measured(
  `const { decodePem, EMPTY_TRUST_STORE, logPinOf, openEnvironment, openKeys, orgTrustOf, parseTrustAnchor, pinAnchor } = await import('@strongroom/protocol')
const { readFileSync } = await import('node:fs')`,
  `const { org, vaultId, principal, privateKey, trustAnchor } = JSON.parse(readFileSync('reader.json', 'utf8'))
const { data, signed, wrappedKeys } = JSON.parse(readFileSync('answer.json', 'utf8'))
const trusted = orgTrustOf(pinAnchor(EMPTY_TRUST_STORE, parseTrustAnchor(trustAnchor), 'pinned'), org)
const trust = { log: logPinOf(org, trusted), genesis: trusted.genesis, freshness: { now: Date.now(), maxStaleMs: 3_600_000 } }
const identity = await openKeys(principal, decodePem(privateKey))
const opened = await openEnvironment({ ...signed, wrappedKeys, fields: data }, vaultId, trust, identity)
const fields = opened.fields.length`,
)

function run(project: string, script: string, env: NodeJS.ProcessEnv): Promise<Spent> {
  const child: ChildProcess = spawn(process.execPath, [script], {
    cwd: project,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', (spent) => resolve(spent as Spent))
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
}

/** Whoever reads: what the client is given in its environment, and the recorded answer for the protocol. */
async function prepare(project: string, url: string, world: VaultWorld): Promise<NodeJS.ProcessEnv> {
  const [reader] = world.readers
  if (!reader) throw new Error('nobody reads')
  const { keys } = JSON.parse(readFileSync(join(root, 'packages/protocol/vectors/keys.json'), 'utf8')) as {
    readonly keys: Readonly<Record<string, string>>
  }
  const privateKey = keys.deploy ?? ''
  const { agentId, apiKey, vault, identity } = reader
  const { orgId: org, trustAnchor } = world
  const path = `/api/v1/machine/vault/${vault.vaultId}/environment-fields?include=wrapped-key,signers`
  const answer = await fetch(url + path, { headers: { 'x-api-key': apiKey } })
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
  writeFileSync(join(project, 'answer.json'), await answer.text())
  const { vaultId } = vault
  const facts = { org, vaultId, principal: identity.key.principal, privateKey, trustAnchor }
  writeFileSync(join(project, 'reader.json'), JSON.stringify(facts))
  writeFileSync(join(project, 'with-sdk.mjs'), WITH_SDK)
  writeFileSync(join(project, 'with-protocol.mjs'), WITH_PROTOCOL)
  return {
    STRONGROOM_BUNDLE: formatBundle({ server: url, apiKey, privateKey, agentId, org, trustAnchor }),
    VAULT: vaultId,
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number

function describe(name: string, all: readonly Spent[]): string {
  const of = (value: (spent: Spent) => number): string => median(all.map(value)).toFixed(0)
  const [time, loaded, cpu] = [of((s) => s.milliseconds), of((s) => s.loadedMilliseconds), of((s) => s.cpuMilliseconds)]
  return `  ${name.padEnd(34)} ${time} ms, of which ${loaded} ms loading; ${cpu} ms CPU`
}

function ratio(name: string, own: readonly Spent[], other: readonly Spent[], value: (spent: Spent) => number): string {
  const found = median(own.map(value)) / median(other.map(value))
  return `  ${name} ${found.toFixed(2)} × the protocol alone (limit ${LIMIT.toFixed(1)}: ${found <= LIMIT ? 'met' : 'missed'})`
}

async function bench(place: string, data: string): Promise<string[]> {
  const project = install(place)
  const args = ['--data', data, '--port', String(await freePort())]
  const server = await startMeasured({ program: '../src/main.ts', args, logFile: join(place, 'log') })
  try {
    const env = await prepare(project, `http://127.0.0.1:${server.port}`, await makeVaultWorld(data))
    const sdk: Spent[] = []
    const protocol: Spent[] = []
    for (let i = 0; i < ROUNDS; i++) {
      protocol.push(await run(project, 'with-protocol.mjs', env))
      sdk.push(await run(project, 'with-sdk.mjs', { ...env, HOME: join(place, `home-${i}`) }))
    }
    const wrong = [...sdk, ...protocol].find(({ fields }) => fields !== 50)
    if (wrong) throw new Error(`${wrong.fields} fields were read`)
    return [
      `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${process.platform}; medians of ${ROUNDS} fresh processes each, in turn`,
      'loading, and the first verified read of 50 fields:',
      describe('protocol, from recorded bytes:', protocol),
      describe('SDK, from a server on loopback:', sdk),
      ratio('time:', sdk, protocol, ({ milliseconds }) => milliseconds),
      ratio('CPU: ', sdk, protocol, ({ cpuMilliseconds }) => cpuMilliseconds),
    ]
  } finally {
    await server.stop()
  }
}

const places = [mkdtempSync(join(tmpdir(), 'sr-bench-sdk-')), mkdtempSync(join(tmpdir(), 'sr-bench-'))] as const
try {
  for (const line of await bench(...places)) console.log(line)
} finally {
  for (const place of places) rmSync(place, { recursive: true, force: true })
}
