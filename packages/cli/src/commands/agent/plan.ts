import { shellLine } from '@strongroom/contract'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { nearest } from '../../model/nearest.ts'
import { safeText } from '../../output/safe-text.ts'
import { type LimitFlags, limitLines, limitsFrom, type NewLimits } from './limits.ts'

// What an agent is going to be, before it is made: from flags, or from a person who is asked.

export interface Plan {
  readonly name: string
  readonly description: string
  readonly vaults: readonly { readonly vault: string; readonly role: Role }[]
  readonly permissions: readonly string[]
  readonly limits: NewLimits
}

type Role = 'read' | 'write' | 'admin'
type Kind = 'server' | 'ci' | 'assistant' | 'custom'
const ROLES = ['read', 'write', 'admin'] as const

export interface PlanFlags extends LimitFlags {
  readonly vault: readonly string[]
  readonly permission: readonly string[]
  readonly kind: Kind | undefined
  readonly description: string | undefined
}

const KINDS = {
  server: 'Server or job',
  ci: 'CI',
  assistant: 'AI coding agent',
  custom: 'Custom',
} as const satisfies Record<Kind, string>

/** Reading with proofs and hearing of changes; writing where a vault is given for it. */
const permissionsFor = (vaults: Plan['vaults']): readonly string[] => [
  'machine.vault.read',
  'machine.vault.secret.read',
  'machine.transparency.read',
  'machine.monitoring.read',
  ...(vaults.some(({ role }) => role !== 'read') ? ['machine.vault.write'] : []),
]

/** `prod` or `prod:write`; a colon in a name is no trouble as long as what follows is no role. */
export function vaultRole(text: string): Plan['vaults'][number] {
  const at = text.lastIndexOf(':')
  const after = text.slice(at + 1)
  const role = ROLES.find((known) => known === after)
  if (at > 0 && role) return { vault: text.slice(0, at), role }
  if (at > 0 && /^[a-z]+$/i.test(after))
    throw new CliError('usage', `${after} is no role`, {
      fix: shellLine`write --vault ${text.slice(0, at)}:read, :write or :admin`,
    })
  return { vault: text, role: 'read' }
}

async function ensurePermissions(given: readonly string[]): Promise<void> {
  const { PERMISSIONS } = await import('@strongroom/contract')
  const known: readonly string[] = PERMISSIONS
  const wrong = given.find((name) => !known.includes(name))
  if (wrong === undefined) return
  const near = nearest(wrong, known)
  throw new CliError('usage', `${wrong} is no permission`, {
    fix: near ? `did you mean ${near}?` : 'they are listed at /docs',
  })
}

export async function planOf(_cli: Cli, name: string | undefined, flags: PlanFlags): Promise<Plan> {
  const vaults = flags.vault.map(vaultRole)
  await ensurePermissions(flags.permission)
  const limits = await limitsFrom(flags)
  return {
    name: name ?? '',
    description: flags.description ?? (flags.kind ? KINDS[flags.kind] : ''),
    vaults,
    permissions: flags.permission.length > 0 ? flags.permission : permissionsFor(vaults),
    limits,
  }
}

async function askVaults(cli: Cli): Promise<readonly string[]> {
  const strongroom = await cli.strongroom()
  const all = await strongroom.vaults.list({ signal: cli.signal })
  const mine = all.filter(({ status, role }) => status === 'active' && role === 'ADMIN')
  if (mine.length === 0) return []
  return cli.ask.many(
    'Vaults it can read (space marks, enter goes on)',
    '--vault NAME',
    mine.map(({ name, itemCount }) => ({
      value: name,
      label: safeText(name),
      hint: `${itemCount} ${itemCount === 1 ? 'item' : 'items'}`,
    })),
  )
}

async function askPermissions(cli: Cli, vaults: Plan['vaults']): Promise<readonly string[]> {
  const { PERMISSIONS } = await import('@strongroom/contract')
  const usual = permissionsFor(vaults)
  const more = await cli.ask.many(
    `More than ${usual.length} usual permissions`,
    '--permission NAME',
    PERMISSIONS.filter((name) => !usual.includes(name)).map((name) => ({ value: name, label: name })),
  )
  return [...usual, ...more]
}

/** Flags answer their question; what is left is asked. */
export async function askPlan(cli: Cli, flags: PlanFlags): Promise<Plan> {
  const name = await cli.ask.text('Name', 'a name: strongroom agent create NAME')
  const kind =
    flags.kind ??
    (await cli.ask.one(
      'Kind',
      '--kind KIND',
      (Object.keys(KINDS) as Kind[]).map((value) => ({ value, label: KINDS[value] })),
    ))
  const chosen = flags.vault.length > 0 ? flags.vault : await askVaults(cli)
  const plan = await planOf(cli, name, { ...flags, kind, vault: chosen })
  const isCustom = kind === 'custom' && flags.permission.length === 0
  return isCustom ? { ...plan, permissions: await askPermissions(cli, plan.vaults) } : plan
}

const MOST_SHOWN = 3

export interface Preview {
  readonly text: string
  /** A variable it will get, to be tried. */
  readonly variable: string | undefined
}

/** What it will be able to do, from the vaults as they are now. Refuses a vault that is not there. */
export async function previewOf(cli: Cli, { name, vaults, permissions, limits }: Plan): Promise<Preview> {
  const strongroom = await cli.strongroom()
  const fields: string[] = []
  let variable: string | undefined
  for (const { vault } of vaults)
    for (const { name: item, labels } of await strongroom.items.list(vault, { signal: cli.signal })) {
      variable ??= labels[0]
      fields.push(...(labels.length > 0 ? labels : ['…']).map((label) => `${vault}/${item}/${label}`))
    }
  const shown = fields.slice(0, MOST_SHOWN).join(', ') + (fields.length > MOST_SHOWN ? ', …' : '')
  const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`
  const decrypt =
    vaults.length === 0
      ? 'nothing yet; strongroom vault share gives it a vault'
      : `${count(fields.length, 'field')} in ${count(vaults.length, 'vault')}${shown === '' ? '' : `   (${safeText(shown)})`}`
  const text = [
    '',
    `  ${safeText(name)} will be able to`,
    `    decrypt   ${decrypt}`,
    `    call      ${permissions.join(', ')}`,
    '    spend     nothing',
    ...limitLines(limits).map(([word, text]) => `    ${word.toLowerCase().padEnd(10)}${text}`),
    '',
  ].join('\n')
  return { text, variable }
}
