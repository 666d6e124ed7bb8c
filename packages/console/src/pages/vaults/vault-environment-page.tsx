import { Page } from '../../ui/page.tsx'

export function VaultEnvironmentPage() {
  return (
    <Page title="Environment">
      <span />
    </Page>
  )
}
