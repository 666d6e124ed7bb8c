import type { LinkProps } from '@tanstack/react-router'

// Where one can go: the rail, the palette and the two-key jumps are made of this.

export interface Place {
  readonly label: string
  readonly to: NonNullable<LinkProps['to']>
  /** `g` and then this key. */
  readonly key: string
}

export interface Group {
  readonly title: string | undefined
  readonly places: readonly Place[]
}

export const GROUPS: readonly Group[] = [
  {
    title: undefined,
    places: [
      { label: 'Overview', to: '/', key: 'o' },
      { label: 'Approvals', to: '/approvals', key: 'n' },
    ],
  },
  {
    title: 'Secrets',
    places: [
      { label: 'Vaults', to: '/vaults', key: 'v' },
      { label: 'Projects', to: '/projects', key: 'p' },
    ],
  },
  {
    title: 'Identity',
    places: [
      { label: 'Agents', to: '/agents', key: 'a' },
      { label: 'People & groups', to: '/people', key: 'e' },
    ],
  },
  {
    title: 'Money',
    places: [
      { label: 'Licences', to: '/licenses', key: 'l' },
      { label: 'Budgets & billing', to: '/billing', key: 'b' },
    ],
  },
  {
    title: 'Evidence',
    places: [
      { label: 'Activity', to: '/activity', key: 'c' },
      { label: 'Transparency', to: '/transparency', key: 't' },
      { label: 'Webhooks', to: '/webhooks', key: 'w' },
    ],
  },
  {
    title: 'Server',
    places: [
      { label: 'Domains', to: '/domains', key: 'd' },
      { label: 'Settings', to: '/settings', key: 's' },
      { label: 'System', to: '/system', key: 'y' },
    ],
  },
]

export const PLACES: readonly Place[] = GROUPS.flatMap(({ places }) => places)
