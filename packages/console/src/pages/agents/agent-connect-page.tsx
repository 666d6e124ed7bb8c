import { Page } from '../../ui/page.tsx'

export function AgentConnectPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
