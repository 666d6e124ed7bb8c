import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryTrust, Strongroom } from '@strongroom/sdk'
import { keysOf } from '../../../sdk/test/engine/server.ts'
import { build } from '../../scripts/build.ts'
import { type CallOptions, type Machine, startWorld, type World } from '../world.ts'

// A vault with secrets, a process that may read it, and the program as it is published: it starts several times as fast as the
// sources, and these tests start it several hundred times.

export const SECRETS = {
  STRIPE_SECRET_KEY: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  DATABASE_URL: 'postgres://app:pä$$w"rd@db.invalid/app',
} as const

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

export interface Scene {
  readonly world: World
  readonly alice: Strongroom
  /** A machine whose environment has the bundle of an agent that may read the vault `prod`. */
  readonly machine: Machine
  /** A machine on which the founder is signed in. */
  readonly person: Machine
  readonly bundle: string
  /** Where the built program is. */
  readonly program: string
  /** Runs the built program on the machine. */
  strongroom(args: readonly string[], options?: CallOptions): Promise<Exit>
  close(): Promise<void>
}

export function runProcess(
  file: string,
  args: readonly string[],
  options: CallOptions & { detached?: boolean } = {},
): Promise<Exit> {
  return startProcess(file, args, options).ended
}

export interface Started {
  readonly pid: number
  /** Settles when the standard output holds these words. */
  says(words: string): Promise<void>
  write(text: string): void
  readonly ended: Promise<Exit>
}

export function startProcess(
  file: string,
  args: readonly string[],
  { env, cwd, input, detached = false }: CallOptions & { detached?: boolean } = {},
): Started {
  const child = spawn(file, args, { env: env ?? process.env, cwd, detached, stdio: 'pipe' })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  const listeners = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk)
    for (const look of listeners) look()
  })
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => undefined)
  if (input !== undefined) child.stdin.end(input)
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }),
    )
  })
  const says = (words: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!Buffer.concat(stdout).includes(words)) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      ended.then((exit) => reject(new Error(`it ended without saying ${words}: ${exit.stdout} ${exit.stderr}`)), reject)
      look()
    })
  return { pid: child.pid ?? 0, says, write: (text) => child.stdin.write(text), ended }
}

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

/** The program as it is published, beside the packages it may find. */
export async function buildProgram(): Promise<{ readonly program: string; remove(): void }> {
  const place = mkdtempSync(join(tmpdir(), 'sr-built-'))
  await build(place)
  symlinkSync(MODULES, join(place, 'node_modules'))
  return {
    program: join(place, 'bin/strongroom.cjs'),
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}

export async function startScene(): Promise<Scene> {
  const [world, built] = await Promise.all([startWorld(), buildProgram()])
  const { founder, url } = world
  const alice = new Strongroom({
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.identity,
    trustAnchor: founder.trustAnchor,
    trustStore: memoryTrust(),
    cache: false,
  })
  await alice.vaults.create({ name: 'prod' })
  for (const [name, value] of Object.entries(SECRETS)) await alice.secrets.set(`sr://prod/app/${name}`, value)
  const agent = await alice.agents.create({
    name: 'bot',
    keys: { material: keysOf('hybrid') },
    vaults: [{ vault: 'prod', role: 'read' }],
  })
  const bundle = agent.bundle.reveal()
  const bare = world.machine()
  const machine: Machine = {
    ...bare,
    env: { ...bare.env, STRONGROOM_BUNDLE: bundle },
    call: (args, options = {}) => bare.call(args, { ...options, env: { STRONGROOM_BUNDLE: bundle, ...options.env } }),
    spawn: (args, options = {}) => bare.spawn(args, { ...options, env: { STRONGROOM_BUNDLE: bundle, ...options.env } }),
  }
  return {
    world,
    alice,
    machine,
    person: await world.founderMachine(),
    bundle,
    program: built.program,
    strongroom: (args, options = {}) =>
      runProcess(process.execPath, [built.program, ...args], {
        cwd: machine.home,
        input: '',
        ...options,
        env: { ...machine.env, ...options.env },
      }),
    close: async () => {
      await world.close()
      built.remove()
    },
  }
}

/** Several at a time, in order. */
export async function inParallel<A, B>(
  inputs: readonly A[],
  atOnce: number,
  work: (input: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = []
  const waiting = inputs.entries()
  const worker = async (): Promise<void> => {
    for (const [i, input] of waiting) results[i] = await work(input)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
