import type { LinkProps } from '@tanstack/react-router'

export const PEOPLE_TABS: readonly { readonly label: string; readonly link: LinkProps }[] = [
  { label: 'People', link: { to: '/people' } },
  { label: 'Invites', link: { to: '/people/invites' } },
  { label: 'Groups and tenants', link: { to: '/people/groups' } },
]
