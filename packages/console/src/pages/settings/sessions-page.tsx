import { Page } from '../../ui/page.tsx'

export function SessionsPage() {
  return (
    <Page title="Settings">
      <span />
    </Page>
  )
}
