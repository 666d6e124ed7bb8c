import { Page } from '../../ui/page.tsx'

export function SystemPage() {
  return (
    <Page title="System">
      <span />
    </Page>
  )
}
