import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Shell } from './shell/shell.tsx'
import { NotFound } from './ui/not-found.tsx'
import { PageError } from './ui/page-error.tsx'

// Every page and its address. What a page shows beyond that (a filter, an open drawer) is in its search, so that it can be shared.

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

/** A search that keeps texts only: whatever else an address says is left out. */
const texts =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): { [N in K]?: string } =>
    Object.fromEntries(names.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : []))) as {
      [N in K]?: string
    }

/**
 * A page that is loaded when it is needed. The router loads the whole tab anew where that fails, and takes the keys in it along: so it is told
 * of a failure in words that it does not know, and shows it.
 */
const page: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch((cause: unknown) => {
        throw new Error('a page of the console could not be loaded', { cause })
      }),
    name,
  )

const at = <P extends string>(path: P) => ({ getParentRoute: () => root, path }) as const

const overview = createRoute({
  ...at('/'),
  validateSearch: texts('span'),
  component: page(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})
const approvals = createRoute({
  ...at('/approvals'),
  component: page(() => import('./pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})
const vaults = createRoute({
  ...at('/vaults'),
  validateSearch: texts('filter'),
  component: page(() => import('./pages/vaults/vaults-page.tsx'), 'VaultsPage'),
})
const accessGraph = createRoute({
  ...at('/vaults/access'),
  validateSearch: texts('only'),
  component: page(() => import('./pages/vaults/access-graph-page.tsx'), 'AccessGraphPage'),
})
const vault = createRoute({
  ...at('/vaults/$vaultId'),
  validateSearch: texts('filter', 'item'),
  component: page(() => import('./pages/vaults/vault-items-page.tsx'), 'VaultItemsPage'),
})
const vaultEnvironment = createRoute({
  ...at('/vaults/$vaultId/environment'),
  component: page(() => import('./pages/vaults/vault-environment-page.tsx'), 'VaultEnvironmentPage'),
})
const vaultFiles = createRoute({
  ...at('/vaults/$vaultId/files'),
  component: page(() => import('./pages/vaults/vault-files-page.tsx'), 'VaultFilesPage'),
})
const vaultKeys = createRoute({
  ...at('/vaults/$vaultId/keys'),
  component: page(() => import('./pages/vaults/vault-keys-page.tsx'), 'VaultKeysPage'),
})
const vaultAccess = createRoute({
  ...at('/vaults/$vaultId/access'),
  component: page(() => import('./pages/vaults/vault-access-page.tsx'), 'VaultAccessPage'),
})
const vaultActivity = createRoute({
  ...at('/vaults/$vaultId/activity'),
  component: page(() => import('./pages/vaults/vault-activity-page.tsx'), 'VaultActivityPage'),
})
const projects = createRoute({
  ...at('/projects'),
  validateSearch: texts('filter'),
  component: page(() => import('./pages/projects/projects-page.tsx'), 'ProjectsPage'),
})
const project = createRoute({
  ...at('/projects/$projectId'),
  component: page(() => import('./pages/projects/project-page.tsx'), 'ProjectPage'),
})
const agents = createRoute({
  ...at('/agents'),
  validateSearch: texts('filter', 'state'),
  component: page(() => import('./pages/agents/agents-page.tsx'), 'AgentsPage'),
})
const newAgent = createRoute({
  ...at('/agents/new'),
  validateSearch: texts(
    ...(['step', 'name', 'description', 'kind', 'vaults', 'permissions'] as const),
    ...(['budget', 'window', 'once', 'expires', 'networks', 'keys', 'bits', 'agent'] as const),
  ),
  component: page(() => import('./pages/agents/new-agent-page.tsx'), 'NewAgentPage'),
})
const compareAgents = createRoute({
  ...at('/agents/compare'),
  validateSearch: texts('a', 'b', 'show'),
  component: page(() => import('./pages/agents/compare-agents-page.tsx'), 'CompareAgentsPage'),
})
const agent = createRoute({
  ...at('/agents/$agentId'),
  component: page(() => import('./pages/agents/agent-page.tsx'), 'AgentPage'),
})
const agentAccess = createRoute({
  ...at('/agents/$agentId/access'),
  component: page(() => import('./pages/agents/agent-access-page.tsx'), 'AgentAccessPage'),
})
const agentKeys = createRoute({
  ...at('/agents/$agentId/keys'),
  component: page(() => import('./pages/agents/agent-keys-page.tsx'), 'AgentKeysPage'),
})
const agentBudget = createRoute({
  ...at('/agents/$agentId/budget'),
  component: page(() => import('./pages/agents/agent-budget-page.tsx'), 'AgentBudgetPage'),
})
const agentActivity = createRoute({
  ...at('/agents/$agentId/activity'),
  component: page(() => import('./pages/agents/agent-activity-page.tsx'), 'AgentActivityPage'),
})
const agentConnect = createRoute({
  ...at('/agents/$agentId/connect'),
  component: page(() => import('./pages/agents/agent-connect-page.tsx'), 'AgentConnectPage'),
})
const people = createRoute({
  ...at('/people'),
  validateSearch: texts('filter'),
  component: page(() => import('./pages/people/people-page.tsx'), 'PeoplePage'),
})
const groups = createRoute({
  ...at('/people/groups'),
  component: page(() => import('./pages/people/groups-page.tsx'), 'GroupsPage'),
})
const invites = createRoute({
  ...at('/people/invites'),
  component: page(() => import('./pages/people/invites-page.tsx'), 'InvitesPage'),
})
const licenses = createRoute({
  ...at('/licenses'),
  validateSearch: texts('filter'),
  component: page(() => import('./pages/licenses/licenses-page.tsx'), 'LicensesPage'),
})
const buyLicense = createRoute({
  ...at('/licenses/buy'),
  validateSearch: texts('search', 'slug', 'quantity'),
  component: page(() => import('./pages/licenses/buy-license-page.tsx'), 'BuyLicensePage'),
})
const purchase = createRoute({
  ...at('/licenses/purchases/$purchaseId'),
  validateSearch: texts('termination'),
  component: page(() => import('./pages/licenses/purchase-page.tsx'), 'PurchasePage'),
})
const billing = createRoute({
  ...at('/billing'),
  component: page(() => import('./pages/billing/billing-page.tsx'), 'BillingPage'),
})
const budgets = createRoute({
  ...at('/billing/budgets'),
  component: page(() => import('./pages/billing/budgets-page.tsx'), 'BudgetsPage'),
})
const transactions = createRoute({
  ...at('/billing/transactions'),
  validateSearch: texts('page'),
  component: page(() => import('./pages/billing/transactions-page.tsx'), 'TransactionsPage'),
})
const funding = createRoute({
  ...at('/billing/funding'),
  validateSearch: texts('intent'),
  component: page(() => import('./pages/billing/funding-page.tsx'), 'FundingPage'),
})
const charges = createRoute({
  ...at('/billing/charges'),
  validateSearch: texts('month'),
  component: page(() => import('./pages/billing/charges-page.tsx'), 'ChargesPage'),
})
const activity = createRoute({
  ...at('/activity'),
  validateSearch: texts('lens', 'filter', 'from', 'to', 'row'),
  component: page(() => import('./pages/activity/activity-page.tsx'), 'ActivityPage'),
})
const transparency = createRoute({
  ...at('/transparency'),
  validateSearch: texts('entry'),
  component: page(() => import('./pages/transparency/transparency-page.tsx'), 'TransparencyPage'),
})
const signers = createRoute({
  ...at('/transparency/signers'),
  component: page(() => import('./pages/transparency/signers-page.tsx'), 'SignersPage'),
})
const evidence = createRoute({
  ...at('/transparency/evidence'),
  component: page(() => import('./pages/transparency/evidence-page.tsx'), 'EvidencePage'),
})
const webhooks = createRoute({
  ...at('/webhooks'),
  component: page(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})
const webhook = createRoute({
  ...at('/webhooks/$webhookId'),
  validateSearch: texts('delivery'),
  component: page(() => import('./pages/webhooks/webhook-page.tsx'), 'WebhookPage'),
})
const domains = createRoute({
  ...at('/domains'),
  validateSearch: texts('domain'),
  component: page(() => import('./pages/domains/domains-page.tsx'), 'DomainsPage'),
})
const settings = createRoute({
  ...at('/settings'),
  component: page(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})
const sessions = createRoute({
  ...at('/settings/sessions'),
  component: page(() => import('./pages/settings/sessions-page.tsx'), 'SessionsPage'),
})
const security = createRoute({
  ...at('/settings/security'),
  component: page(() => import('./pages/settings/security-page.tsx'), 'SecurityPage'),
})
const system = createRoute({
  ...at('/system'),
  component: page(() => import('./pages/system/system-page.tsx'), 'SystemPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    approvals,
    vaults,
    accessGraph,
    vault,
    vaultEnvironment,
    vaultFiles,
    vaultKeys,
    vaultAccess,
    vaultActivity,
    projects,
    project,
    agents,
    newAgent,
    compareAgents,
    agent,
    agentAccess,
    agentKeys,
    agentBudget,
    agentActivity,
    agentConnect,
    people,
    groups,
    invites,
    licenses,
    buyLicense,
    purchase,
    billing,
    budgets,
    transactions,
    funding,
    charges,
    activity,
    transparency,
    signers,
    evidence,
    webhooks,
    webhook,
    domains,
    settings,
    sessions,
    security,
    system,
  ]),
  // What stands in an address is text, also where it looks like a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  },
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
