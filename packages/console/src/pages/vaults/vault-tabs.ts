import type { LinkProps } from '@tanstack/react-router'

/** The parts of a vault's page. */
export const vaultTabs = (vaultId: string): readonly { readonly label: string; readonly link: LinkProps }[] => {
  const params = { vaultId }
  return [
    { label: 'Items', link: { to: '/vaults/$vaultId', params } },
    { label: 'Environment', link: { to: '/vaults/$vaultId/environment', params } },
    { label: 'Files', link: { to: '/vaults/$vaultId/files', params } },
    { label: 'Keys', link: { to: '/vaults/$vaultId/keys', params } },
    { label: 'Access', link: { to: '/vaults/$vaultId/access', params } },
    { label: 'Activity', link: { to: '/vaults/$vaultId/activity', params } },
  ]
}
