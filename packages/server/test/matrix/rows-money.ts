import { permitted, type Row, type Slot } from './oracle.ts'
import { type Caller, holdsRole, type Place, worksIn } from './relations.ts'

// Credit and budgets, from the specification and what is decided about roles: a billing manager of the organisation sets every budget,
// a budget manager of a tenant those of the tenant and of its agents; everybody sees what applies to them.

const BILLING = permitted('machine.billing.read')

const managesMoney = ({ orgRoles, home }: Caller, place: Place): boolean =>
  home.orgId === place.orgId &&
  ['ORG_OWNER', 'ORG_ADMIN', 'ORG_BILLING_MANAGER'].some((role) => orgRoles.includes(role))
const manages = (caller: Caller, place: Place): boolean =>
  managesMoney(caller, place) || holdsRole(caller, place, 'TENANT_BUDGET_MANAGER')

/** A tenant below is bound by what its parent may spend, and sees it. */
const appliesTo = (caller: Caller, place: Place): boolean =>
  worksIn(caller, place) || (caller.type !== 'operator' && caller.home.parentId === place.tenantId)

const agentToBind: Slot = {
  kind: 'agent',
  refuses: (caller, { relation, place }) => {
    const isThere = place !== undefined && relation !== 'absent' && relation !== 'archived'
    return isThere && manages(caller, place) ? undefined : 'budget_subject_not_found'
  },
}

const budgetOfTenant: Slot = {
  kind: 'budget',
  refuses: (caller, { relation, place }) => {
    if (relation === 'absent' || !place) return 'budget_not_found'
    if (manages(caller, place)) return undefined
    return appliesTo(caller, place) ? 'role_required' : 'budget_not_found'
  },
}

const windows = [{ kind: 'daily', limit: { amount: '1000000', currency: 'USD', scale: 6 } }]

export const MONEY: readonly Row[] = [
  { route: 'GET /machine/billing/balance', may: BILLING },
  { route: 'GET /machine/billing/credit-transactions', may: BILLING },
  { route: 'GET /machine/billing/readiness', may: BILLING },
  { route: 'GET /machine/budget', may: permitted('machine.budget.read') },
  {
    route: 'POST /machine/budget',
    may: permitted('machine.budget.write'),
    ids: { agent: agentToBind },
    body: ({ agent }) => ({ subjectType: 'agent', subjectId: agent, enforcement: 'notify', windows }),
  },
  {
    route: 'PATCH /machine/budget/:id',
    may: permitted('machine.budget.write'),
    ids: { id: budgetOfTenant },
    body: () => ({ windows }),
    takes: ['status'],
  },
]
