import { Page } from '../../ui/page.tsx'

export function AgentPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
