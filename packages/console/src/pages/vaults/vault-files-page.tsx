import { Page } from '../../ui/page.tsx'

export function VaultFilesPage() {
  return (
    <Page title="Files">
      <span />
    </Page>
  )
}
