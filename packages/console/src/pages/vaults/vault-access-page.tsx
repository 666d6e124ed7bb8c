import { Page } from '../../ui/page.tsx'

export function VaultAccessPage() {
  return (
    <Page title="Access">
      <span />
    </Page>
  )
}
