import type { Budget } from '@strongroom/contract'
import type { Agent, Exposure } from '@strongroom/sdk'
import { compareNames } from '../../ui/name-order.ts'
import { windowWords } from '../billing/budget-windows.ts'
import { moneyText } from '../billing/money.tsx'
import { permissionWords } from './permission-words.ts'
import type { HeldVault } from './queries.ts'

// Two agents side by side: what one of them may, and the other may not. Groups carry roles, so who is in which is part of it.

export interface Compared {
  readonly agent: Agent
  /** On the access lists, as the server says. */
  readonly held: readonly HeldVault[]
  /** Read from the whole log in this browser. */
  readonly exposure: Exposure
  readonly budgets: readonly Budget[]
}

export interface ComparedRow {
  readonly id: string
  readonly kind: 'vault' | 'permission' | 'group' | 'limit' | 'budget'
  readonly what: string
  /** As the permission is called, or empty. */
  readonly code: string
  readonly of: readonly [string, string]
  readonly isSame: boolean
}

const NONE = 'no'

/** `read, holds the key`: a role is what it may ask for, a key is what opens the values. */
function vaultWords({ held, exposure }: Compared, vaultId: string): string {
  const role = held.find((vault) => vault.vaultId === vaultId)?.role
  const hasKey = exposure.vaults.some(
    (vault) => vault.vaultId === vaultId && vault.grants.some(({ until }) => until === null),
  )
  if (role === undefined) return hasKey ? 'no role, holds the key' : NONE
  return hasKey ? `${role}, holds the key` : `${role}, no key`
}

/** Every limit counts: the narrowest of them refuses. */
function budgetWords({ budgets }: Compared): string {
  const limits = budgets.flatMap(({ activeWindows, perTransactionLimit, enforcement }) => [
    ...activeWindows.map((window) => `${moneyText(window.limit)} ${windowWords(window, new Date())}`),
    ...(perTransactionLimit ? [`${moneyText(perTransactionLimit)} at once`] : []),
    ...(enforcement === 'hard' ? [] : ['only warned of']),
  ])
  return limits.length === 0 ? 'none of its own' : limits.sort().join(', ')
}

function expiryWords({ agent: { expiresAt } }: Compared): string {
  if (!expiresAt) return 'never'
  const [day, time = ''] = expiresAt.toISOString().split('T')
  return `on ${day} at ${time.slice(0, 5)} UTC`
}
const networkWords = ({ agent }: Compared): string => [...agent.networks].sort().join(', ') || 'every one'

const row = (
  kind: ComparedRow['kind'],
  id: string,
  what: string,
  of: readonly [string, string],
  code = '',
): ComparedRow => ({ id: `${kind} ${id}`, kind, what, code, of, isSame: of[0] === of[1] })

export function comparison(one: Compared, other: Compared): readonly ComparedRow[] {
  const both = [one, other] as const
  const vaults = new Map(
    both.flatMap(({ held, exposure }) => [
      ...exposure.vaults
        .filter(({ grants }) => grants.some(({ until }) => until === null))
        .map(({ vaultId, name }) => [vaultId, name ?? vaultId] as const),
      ...held.map(({ vaultId, name }) => [vaultId, name] as const),
    ]),
  )
  const permissions = [...new Set(both.flatMap(({ agent }) => agent.permissions))].sort()
  const has = ({ agent }: Compared, name: string): string => (agent.permissions.includes(name) ? 'yes' : NONE)
  const groups = new Map(both.flatMap(({ agent }) => agent.securityGroups.map(({ groupId, name }) => [groupId, name])))
  const isIn = ({ agent }: Compared, id: string): string =>
    agent.securityGroups.some(({ groupId }) => groupId === id) ? 'yes' : NONE
  return [
    ...[...vaults]
      .sort(([, a], [, b]) => compareNames(a, b))
      .map(([id, name]) => row('vault', id, name, [vaultWords(one, id), vaultWords(other, id)])),
    ...permissions.map((name) =>
      row('permission', name, permissionWords(name), [has(one, name), has(other, name)], name),
    ),
    ...[...groups]
      .sort(([, a], [, b]) => compareNames(a, b))
      .map(([id, name]) => row('group', id, name, [isIn(one, id), isIn(other, id)])),
    row('limit', 'expiry', 'When it expires', [expiryWords(one), expiryWords(other)]),
    row('limit', 'networks', 'Networks it may be used from', [networkWords(one), networkWords(other)]),
    row('budget', 'limit', 'What it may spend', [budgetWords(one), budgetWords(other)]),
  ]
}
