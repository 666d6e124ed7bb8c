import { Page } from '../../ui/page.tsx'

export function AgentActivityPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
