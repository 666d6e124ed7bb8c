import { Page } from '../../ui/page.tsx'

export function VaultActivityPage() {
  return (
    <Page title="Activity">
      <span />
    </Page>
  )
}
