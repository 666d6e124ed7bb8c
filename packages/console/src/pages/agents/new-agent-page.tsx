import { Page } from '../../ui/page.tsx'

export function NewAgentPage() {
  return (
    <Page title="New agent">
      <span />
    </Page>
  )
}
