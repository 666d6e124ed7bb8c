import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type LicenseWork, workOnLicensesOf } from '../../server/test/provider/background.ts'
import { type McpClient, startMcp } from './mcp-client.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// A project on the machine of a person, two random secrets in its vault, and an agent that may use them.

export const AGENT = ['--profile', 'assistant']
/** May read the vault, and nothing that it does not need for that. */
export const READER = 'reader'
export const SECRETS = {
  PLAIN_KEY: `sk_${randomBytes(24).toString('base64url')}`,
  ODD_KEY: `p"a/s+s=é ${randomBytes(18).toString('base64')}`,
} as const

export interface McpScene {
  readonly world: World
  /** Of the person, in the folder of the project. */
  readonly machine: Machine
  readonly project: string
  /** Writes strongroom.toml: both secrets, a text, and what is given. */
  manifest(tasks: string): void
  allow(task: string): Promise<unknown>
  /** One more server, in the project and as the assistant unless said otherwise. */
  start(folder?: string, profile?: readonly string[]): McpClient
  /** Everything that any of them has written. */
  transcript(): string
  stdout(): string
  work: LicenseWork
  close(): Promise<void>
}

async function prepare(machine: Machine): Promise<void> {
  await jsonOf(machine, ['vault', 'create', 'prod'])
  for (const [name, value] of Object.entries(SECRETS)) {
    const ended = await machine.call(['set', `prod/app/${name}`], { input: value })
    expect(ended.code, ended.stderr).toBe(0)
  }
  const create = ['agent', 'create', 'assistant', '--vault', 'prod:write', '--permission', 'machine.all', '--yes']
  for (const one of [create, ['agent', 'create', READER, '--vault', 'prod', '--yes']])
    expect((await machine.call(one)).stderr).not.toContain('✗')
}

export async function startMcpScene(): Promise<McpScene> {
  const world = await startWorld()
  const founder = await world.founderMachine()
  const project = join(founder.home, 'project')
  mkdirSync(project)
  const machine: Machine = {
    ...founder,
    call: (args, options = {}) => founder.call(args, { cwd: project, ...options }),
  }
  await prepare(machine)
  const manifest = (tasks: string): void =>
    writeFileSync(
      join(project, 'strongroom.toml'),
      `[env]
PLAIN_KEY = "sr://prod/app/PLAIN_KEY"
ODD_KEY = "sr://prod/app/ODD_KEY"
LOG_LEVEL = "text-of-the-file"

${tasks}`,
    )
  manifest('')
  const clients: McpClient[] = []
  const scene: McpScene = {
    world,
    machine,
    project,
    manifest,
    allow: (task) => jsonOf(machine, ['allow', task, '--yes']),
    start: (folder = project, profile = AGENT) => {
      const client = startMcp(machine, folder, profile)
      clients.push(client)
      return client
    },
    transcript: () => clients.map((one) => one.transcript()).join('\n'),
    stdout: () => clients.map((one) => one.stdout()).join(''),
    work: workOnLicensesOf(world.h),
    close: async () => {
      for (const one of clients) await one.kill('SIGKILL')
      await scene.work.stop()
      await world.close()
    },
  }
  return scene
}
