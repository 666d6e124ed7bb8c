import { Page } from '../../ui/page.tsx'

export function AgentBudgetPage() {
  return (
    <Page title="Agent">
      <span />
    </Page>
  )
}
