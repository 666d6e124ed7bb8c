import type { LinkProps } from '@tanstack/react-router'
import {
  Activity,
  BadgeCheck,
  Bot,
  FolderKanban,
  Globe,
  Inbox,
  LayoutDashboard,
  type LucideIcon,
  ScanEye,
  Server,
  Settings,
  Users,
  Vault,
  Wallet,
  Webhook,
} from 'lucide-react'

// Where one can go: the rail, the palette and the two-key jumps are made of this.

export interface Place {
  readonly label: string
  readonly icon: LucideIcon
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
      { label: 'Overview', icon: LayoutDashboard, to: '/', key: 'o' },
      { label: 'Approvals', icon: Inbox, to: '/approvals', key: 'n' },
    ],
  },
  {
    title: 'Secrets',
    places: [
      { label: 'Vaults', icon: Vault, to: '/vaults', key: 'v' },
      { label: 'Projects', icon: FolderKanban, to: '/projects', key: 'p' },
    ],
  },
  {
    title: 'Identity',
    places: [
      { label: 'Agents', icon: Bot, to: '/agents', key: 'a' },
      { label: 'People & groups', icon: Users, to: '/people', key: 'e' },
    ],
  },
  {
    title: 'Money',
    places: [
      { label: 'Licences', icon: BadgeCheck, to: '/licenses', key: 'l' },
      { label: 'Budgets & billing', icon: Wallet, to: '/billing', key: 'b' },
    ],
  },
  {
    title: 'Evidence',
    places: [
      { label: 'Activity', icon: Activity, to: '/activity', key: 'c' },
      { label: 'Transparency', icon: ScanEye, to: '/transparency', key: 't' },
      { label: 'Webhooks', icon: Webhook, to: '/webhooks', key: 'w' },
    ],
  },
  {
    title: 'Server',
    places: [
      { label: 'Domains', icon: Globe, to: '/domains', key: 'd' },
      { label: 'Settings', icon: Settings, to: '/settings', key: 's' },
      { label: 'System', icon: Server, to: '/system', key: 'y' },
    ],
  },
]

export const PLACES: readonly Place[] = GROUPS.flatMap(({ places }) => places)
