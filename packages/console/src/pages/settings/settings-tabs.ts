import type { LinkProps } from '@tanstack/react-router'

export const SETTINGS_TABS: readonly { readonly label: string; readonly link: LinkProps }[] = [
  { label: 'Appearance and organisation', link: { to: '/settings' } },
  { label: 'Security', link: { to: '/settings/security' } },
  { label: 'Sessions', link: { to: '/settings/sessions' } },
]
