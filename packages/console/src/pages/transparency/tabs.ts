import type { LinkProps } from '@tanstack/react-router'

export const TRANSPARENCY_TABS: readonly { readonly label: string; readonly link: LinkProps }[] = [
  { label: 'Log', link: { to: '/transparency' } },
  { label: 'Signers', link: { to: '/transparency/signers' } },
  { label: 'Evidence', link: { to: '/transparency/evidence' } },
]
