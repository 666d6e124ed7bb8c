import { Page } from '../../ui/page.tsx'

export function LicensesPage() {
  return (
    <Page title="Licences">
      <span />
    </Page>
  )
}
