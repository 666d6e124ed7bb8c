import type { LinkProps } from '@tanstack/react-router'

export const VAULTS_TABS: readonly { readonly label: string; readonly link: LinkProps }[] = [
  { label: 'Vaults', link: { to: '/vaults' } },
  { label: 'Who can decrypt', link: { to: '/vaults/access' } },
]
