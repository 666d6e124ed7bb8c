import { holds, type Permission, shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { type Limits, limitFlags, momentOf, networksIn } from './limits.ts'

// What an agent is going to be, before it is made. All of it is in the address of the wizard; nothing of it is secret.

export const STEPS = ['purpose', 'access', 'limits', 'keys', 'finish'] as const
export type Step = (typeof STEPS)[number]

export const KINDS = {
  server: { label: 'Server or job', says: 'Runs unattended and reads what it needs to work.' },
  ci: { label: 'CI', says: 'Starts empty each time; its credential is one secret of the CI system.' },
  assistant: { label: 'AI coding agent', says: 'Works for a person, and can be talked into things. Give it little.' },
  custom: { label: 'Custom', says: 'You choose each permission yourself.' },
} as const
export type Kind = keyof typeof KINDS

export const ROLES = ['read', 'write', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const WINDOWS = ['daily', 'weekly', 'monthly', 'total'] as const
export type BudgetWindow = (typeof WINDOWS)[number]

export type KeyWay = 'here' | 'paste' | 'machine'

export interface GivenVault {
  readonly vaultId: string
  readonly role: Role
}

export interface Plan {
  readonly name: string
  readonly description: string
  readonly kind: Kind
  readonly vaults: readonly GivenVault[]
  readonly permissions: readonly Permission[]
  /** US dollars as they are typed; empty for none. */
  readonly budget: string
  readonly window: BudgetWindow
  readonly atOnce: string
  readonly limits: Limits
  readonly keys: KeyWay
  readonly bits: 3072 | 4096
}

/** The address of the wizard. */
export interface PlanSearch {
  readonly step?: string
  readonly name?: string
  readonly description?: string
  readonly kind?: string
  readonly vaults?: string
  readonly permissions?: string
  readonly budget?: string
  readonly window?: string
  readonly once?: string
  readonly expires?: string
  readonly networks?: string
  readonly keys?: string
  readonly bits?: string
  /** Once it is made. */
  readonly agent?: string
}

const oneOf = <T extends string>(known: readonly T[], text: string | undefined, otherwise: T): T =>
  known.find((one) => one === text) ?? otherwise

/** `vlt_1:read,vlt_2:write` */
export function vaultsOf(text = ''): readonly GivenVault[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [vaultId = '', role] = part.split(':')
      return { vaultId, role: oneOf(ROLES, role, 'read') }
    })
}

export const vaultsText = (vaults: readonly GivenVault[]): string =>
  vaults.map(({ vaultId, role }) => `${vaultId}:${role}`).join(',')

/** What it cannot do without: reading with proofs, and being told of changes; and what its vaults, kind and money add. */
export function usualPermissions(kind: Kind, vaults: readonly GivenVault[], hasBudget: boolean): readonly Permission[] {
  return [
    'machine.vault.read',
    'machine.vault.secret.read',
    'machine.transparency.read',
    'machine.monitoring.read',
    ...(vaults.some(({ role }) => role !== 'read') ? (['machine.vault.write'] as const) : []),
    ...(kind === 'assistant' ? (['machine.search.read', 'machine.feedback.write'] as const) : []),
    ...(hasBudget ? (['machine.budget.read', 'machine.license.read', 'machine.license.write'] as const) : []),
  ]
}

export function planOf(search: PlanSearch): Plan {
  const kind = oneOf(Object.keys(KINDS) as Kind[], search.kind, 'server')
  const vaults = vaultsOf(search.vaults)
  const budget = search.budget ?? ''
  const usual = usualPermissions(kind, vaults, budget !== '')
  return {
    name: search.name ?? '',
    description: search.description ?? '',
    kind,
    vaults,
    permissions:
      search.permissions === undefined
        ? usual
        : (search.permissions.split(',').filter((name) => name !== '') as Permission[]),
    budget,
    window: oneOf(WINDOWS, search.window, 'monthly'),
    atOnce: search.once ?? '',
    limits: { expires: search.expires ?? '', networks: networksIn(search.networks ?? '') },
    keys: oneOf(['here', 'paste', 'machine'] as const, search.keys, 'here'),
    bits: search.bits === '4096' ? 4096 : 3072,
  }
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i

/** Why this cannot be its name; undefined where it can. */
export function nameProblem(name: string, others: readonly Pick<Agent, 'name' | 'status'>[]): string | undefined {
  if (name === '') return undefined
  if (!NAME.test(name)) return 'Letters, digits, dots, dashes and underscores, beginning with a letter or digit.'
  const taken = others.some((one) => one.status === 'active' && one.name.toLowerCase() === name.toLowerCase())
  return taken ? 'Another agent has this name.' : undefined
}

/** It could make agents and give them access: whoever has it can have everything its makers have. */
export const isMaster = (permissions: readonly string[]): boolean =>
  holds(permissions, 'machine.agent.write') && holds(permissions, 'machine.permissions.write')

/** What it is written down as. */
export const descriptionOf = ({ description, kind }: Plan): string => description.trim() || KINDS[kind].label

/** As the SDK takes them, counted from now. */
export function newLimitsOf({ limits: { expires, networks } }: Plan) {
  const expiresAt = momentOf(expires)
  return { ...(expiresAt && { expiresAt }), ...(networks.length > 0 && { networks }) }
}

/** The same on the command line. */
export function cliOf(plan: Plan, vaultName: (vaultId: string) => string): string {
  const { name, kind, vaults, description, permissions, keys, budget, window, atOnce, limits } = plan
  const usual = usualPermissions(kind, vaults, budget !== '')
  const isUsual = budget === '' && kind !== 'assistant' && permissions.join() === usual.join()
  const flags = [
    ...(keys === 'here' ? vaults.flatMap(({ vaultId, role }) => ['--vault', `${vaultName(vaultId)}:${role}`]) : []),
    ...(isUsual ? [] : permissions.flatMap((permission) => ['--permission', permission])),
    ...(keys === 'here' && description === '' ? ['--kind', kind] : []),
    ...(description === '' ? [] : ['--description', description]),
    ...limitFlags(limits),
  ]
  const subject = name || 'NAME'
  const make = shellLine`strongroom agent ${keys === 'here' ? 'create' : 'enrol'} ${subject} ${flags}`
  if (budget === '') return make
  const once = atOnce === '' ? [] : ['--at-once', atOnce]
  return `${make} && ${shellLine`strongroom budget create ${subject} --${window} ${budget} ${once}`}`
}
