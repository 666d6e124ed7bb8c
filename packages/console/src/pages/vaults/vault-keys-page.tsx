import { Page } from '../../ui/page.tsx'

export function VaultKeysPage() {
  return (
    <Page title="Keys">
      <span />
    </Page>
  )
}
