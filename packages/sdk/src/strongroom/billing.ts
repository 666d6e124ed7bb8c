import type { Budget, billing, budgets, domains, Input, Output } from '@strongroom/contract'
import type { ApiPromise, RequestOptions } from './call.ts'
import { type Charges, chargesOf } from './charges.ts'
import type { Core } from './core.ts'
import { type Funding, fundingOf } from './funding.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'

// Credit, budgets and domains. Amounts are whole micro-units in strings; `formatMoney` shows them to people.

export type Balance = Output<typeof billing.balance>
export type CreditTransaction = Output<typeof billing.creditTransactions>['data'][number]
export type Readiness = Output<typeof billing.readiness>
export type NewBudget = Input<typeof budgets.create>['body']
export type BudgetChange = Input<typeof budgets.update>['body']
export type DnsRecords = Output<typeof domains.records>
export type DnsQuestion = Input<typeof domains.records>['query']
export type DnsCheck = Output<typeof domains.check>
export type DnsCheckQuestion = Input<typeof domains.check>['query']

export interface Billing extends Funding, Charges {
  /** What was paid in, what is held, what is left. */
  balance(options?: RequestOptions): ApiPromise<Balance>
  /** Every movement of the credit, newest first. */
  transactions(params?: ListParams, options?: RequestOptions): PagePromise<CreditTransaction>
  /** Whether a purchase of the caller could succeed now. */
  readiness(options?: RequestOptions): ApiPromise<Readiness>
}

export interface Budgets {
  /** Those that apply to the caller, and those the caller manages. */
  list(params?: ListParams, options?: RequestOptions): PagePromise<Budget>
  create(budget: NewBudget, options?: RequestOptions): ApiPromise<Budget>
  update(budgetId: string, change: BudgetChange, options?: RequestOptions): ApiPromise<Budget>
}

export interface Domains {
  /** The DNS records of a managed domain. */
  records(question: DnsQuestion, options?: RequestOptions): ApiPromise<DnsRecords>
  /** What a resolver answers for them now; the server asks it. */
  check(question: DnsCheckQuestion, options?: RequestOptions): ApiPromise<DnsCheck>
}

export const billingOf = (core: Core): Billing => ({
  ...fundingOf(core),
  ...chargesOf(core),
  balance: (options) => core.call(options, ({ client, options: call }) => client.billing.balance({}, call)),
  readiness: (options) => core.call(options, ({ client, options: call }) => client.billing.readiness({}, call)),
  transactions: (params = {}, options) =>
    numberedPages(core, (query, client, call) => client.billing.creditTransactions({ query }, call), params, options),
})

export const budgetsOf = (core: Core): Budgets => ({
  list: (params = {}, options) =>
    numberedPages(core, (query, client, call) => client.budgets.list({ query }, call), params, options),
  create: (body, options) => core.call(options, ({ client, options: call }) => client.budgets.create({ body }, call)),
  update: (id, body, options) =>
    core.call(options, ({ client, options: call }) => client.budgets.update({ params: { id }, body }, call)),
})

export const domainsOf = (core: Core): Domains => ({
  records: (query, options) =>
    core.call(options, ({ client, options: call }) => client.domains.records({ query }, call)),
  check: (query, options) => core.call(options, ({ client, options: call }) => client.domains.check({ query }, call)),
})
