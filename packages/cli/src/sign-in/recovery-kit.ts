import { constants, existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere } from '../place/private-file.ts'

// The recovery kit: what a person needs on another machine, or when the passphrase is lost. One file, for paper or a safe, never
// written over another one.

export interface Kit {
  readonly server: string
  readonly org: string
  readonly orgName?: string
  readonly email: string
  /** The hash of the genesis document. */
  readonly fingerprint: string
  readonly kid: string
  readonly trustAnchor: string
  readonly deviceSecret: string
  readonly recoveryCode: string
}

const LABELS = {
  server: 'server',
  org: 'organisation',
  email: 'email',
  fingerprint: 'fingerprint',
  kid: 'key',
  trustAnchor: 'trust anchor',
  deviceSecret: 'device secret',
  recoveryCode: 'recovery code',
} as const

function kitText(kit: Kit): string {
  const line = (name: keyof typeof LABELS): string => `${LABELS[name].padEnd(14)} ${kit[name]}`
  return `Strongroom recovery kit${kit.orgName === undefined ? '' : ` of ${kit.orgName}`}

Keep it offline: on paper, or in a safe. There is no other copy.

${line('server')}
${line('org')}
${line('email')}
${line('fingerprint')}
${line('kid')}

With your passphrase, on another machine: strongroom login --kit FILE
${line('deviceSecret')}

Without your passphrase: strongroom login --recover --kit FILE
${line('recoveryCode')}

What makes a lying server visible from the first contact:
${line('trustAnchor')}
`
}

/** Holds the place before the keys are made: a kit that cannot be written must be noticed before it is needed. */
export interface ReservedKit {
  readonly path: string
  write(kit: Kit): Promise<void>
  release(): Promise<void>
}

export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40) || 'strongroom'

/** A free name; a file that is there already stays as it is. */
function freePath({ io }: Cli, name: string, given: string | undefined): string {
  if (given !== undefined) return resolve(io.cwd, given)
  const path = (n: number): string => join(io.cwd, `${slugOf(name)}-recovery${n === 1 ? '' : `-${n}`}.txt`)
  let n = 1
  while (existsSync(path(n))) n += 1
  return path(n)
}

export async function reserveKit(cli: Cli, name: string, given: string | undefined): Promise<ReservedKit> {
  const path = freePath(cli, name, given)
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600).catch((cause) => {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw new CliError('file_unwritable', `the recovery kit cannot be written to ${path}`, {
      fix: isThere
        ? 'there is such a file already: choose another place with --kit FILE'
        : 'choose another place with --kit FILE',
      cause,
    })
  })
  return {
    path,
    write: async (kit) => {
      await file.writeFile(kitText(kit))
      await file.sync()
      await file.close()
    },
    release: async () => {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

export const shownKit = ({ io }: Cli, path: string): string =>
  path === join(io.cwd, basename(path)) ? `./${basename(path)}` : path

/** What is written in a kit; refuses a file that is none. */
export async function readKit({ io }: Cli, path: string): Promise<Kit> {
  const text = await readIfThere(resolve(io.cwd, path))
  if (text === undefined) throw new CliError('file_unreadable', `there is no recovery kit at ${path}`)
  const entries = Object.entries(LABELS).map(([name, label]) => {
    const [, value] = new RegExp(`^${label} +(\\S+)\\s*$`, 'm').exec(text) ?? []
    if (value === undefined)
      throw new CliError('file_unreadable', `${path} is no recovery kit: there is no ${label} in it`)
    return [name, value]
  })
  return Object.fromEntries(entries) as unknown as Kit
}
