import type { Permission } from '@strongroom/contract'

// Permissions as sentences, beside the strings they are.

const FAMILIES: Readonly<Record<string, string>> = {
  agent: 'agents',
  billing: 'credit and charges',
  budget: 'budgets',
  domain: 'domains',
  feedback: 'feedback',
  license: 'licences',
  permissions: 'access lists',
  project: 'projects',
  vault: 'vaults and everything in them',
  webhook: 'webhooks',
}

const SAID: Readonly<Record<string, string>> = {
  'machine.all': 'Everything there is',
  'machine.vault.read': 'See the vaults and items it was given, without their values',
  'machine.vault.secret.read': 'Fetch its wrapped vault keys, and so decrypt their values',
  'machine.vault.sync.read': 'Take along what changed, for work without a connection',
  'machine.vault.write': 'Change items where its role in the vault allows it',
  'machine.transparency.read': 'Check everything it reads against the log',
  'machine.monitoring.read': 'See its own requests, and be told of changes',
  'machine.search.read': 'Find vaults, items and licences by name',
  'machine.feedback.write': 'Report what it misses',
  'machine.license.read': 'See licences it may buy or has bought',
  'machine.license.write': 'Buy and end licences within its budget',
  'machine.budget.read': 'See what it may still spend',
  'machine.budget.write': 'Set budgets of others',
  'machine.billing.read': 'See the credit of the organisation',
  'machine.billing.write': 'Order funding for the organisation',
  'machine.agent.read': 'See other agents',
  'machine.agent.write': 'Make, change and archive agents',
  'machine.permissions.read': 'See who has access to what it was given',
  'machine.permissions.write': 'Give others access where its role allows it',
  'machine.project.read': 'See projects',
  'machine.project.write': 'Change projects',
  'machine.webhook.read': 'See webhooks and their deliveries',
  'machine.webhook.write': 'Make and change webhooks',
  'machine.domain.read': 'See managed domains',
}

export function permissionWords(permission: Permission | string): string {
  const family = permission.split('.')[1] ?? ''
  return SAID[permission] ?? `Everything about ${FAMILIES[family] ?? family}`
}
