import { Page } from '../../ui/page.tsx'

export function AgentAccessPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
