import type { Budget } from '@strongroom/contract'
import type { NewBudget } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { findAgent } from '../commands/agent/find.ts'
import { CliError } from '../errors/cli-error.ts'
import { findTenant, tenantNames } from '../people/tenants.ts'
import { findPrincipal, namesOf } from '../place/principals.ts'

// Whose a budget is, by name, and a budget by whose it is. Ids are taken everywhere and needed only where somebody has several.

export type Subject = Pick<NewBudget, 'subjectType' | 'subjectId'>

/** As it is typed after `budget create`, and for people: a name, or an id where none is known. */
export interface SubjectNames {
  typed(subject: Subject): string
  shown(subject: Subject): string
}

export async function subjectNames(cli: Cli, subjects: readonly Subject[]): Promise<SubjectNames> {
  const principal = await namesOf(cli)
  const hasTenants = subjects.some(({ subjectType }) => subjectType === 'tenant')
  const tenant = hasTenants ? await tenantNames(cli) : (id: string) => id
  const nameOf = ({ subjectType, subjectId }: Subject): string => {
    if (subjectType === 'tenant') return tenant(subjectId)
    const id = `${subjectType}:${subjectId}`
    const name = principal(id)
    return name === id ? subjectId : name
  }
  return {
    shown: (subject) =>
      subject.subjectType === 'org' ? 'the organisation' : `${subject.subjectType} ${nameOf(subject)}`,
    typed: (subject) => {
      if (subject.subjectType === 'org') return 'org'
      return subject.subjectType === 'agent' ? nameOf(subject) : `${subject.subjectType}:${nameOf(subject)}`
    },
  }
}

/** `NAME` of an agent, `org`, `tenant:NAME`, `user:EMAIL`; ids instead of names too. */
export async function findSubject(cli: Cli, asked: string): Promise<Subject> {
  if (asked === 'org') {
    const { org } = await (await cli.strongroom()).me({ signal: cli.signal })
    return { subjectType: 'org', subjectId: org }
  }
  const [, kind, name = ''] = /^(tenant|user):(.+)$/.exec(asked) ?? []
  if (kind === 'tenant') return { subjectType: 'tenant', subjectId: await findTenant(cli, name) }
  if (kind === 'user') {
    const { id } = await findPrincipal(cli, name.includes('@') ? name : asked)
    return { subjectType: 'user', subjectId: id.replace(/^user:/, '') }
  }
  return { subjectType: 'agent', subjectId: (await findAgent(cli, asked)).agentId }
}

const ID = /^bud_[a-z0-9]+$/

/** By id, by its own name, or by whom it limits. */
export async function findBudget(cli: Cli, asked: string): Promise<string> {
  if (ID.test(asked)) return asked
  const all = await (await cli.strongroom()).budgets.list({}, { signal: cli.signal }).all()
  const live = all.filter(({ status }) => status === 'active')
  const named = live.filter(({ name }) => name === asked)
  const found = named.length > 0 ? named : await ofSubject(cli, live, asked)
  const [only] = found
  if (only && found.length === 1) return only.budgetId
  if (only)
    throw new CliError('ambiguous_name', `${found.length} budgets limit ${asked}`, {
      fix: `use an id: ${found.map(({ budgetId }) => budgetId).join(', ')}`,
      details: { candidates: found.map(({ budgetId }) => budgetId) },
    })
  throw new CliError('budget_not_found', `there is no budget that limits ${asked}`, { fix: 'strongroom budget list' })
}

async function ofSubject(cli: Cli, budgets: readonly Budget[], asked: string): Promise<readonly Budget[]> {
  const { subjectType, subjectId } = await findSubject(cli, asked)
  return budgets.filter((one) => one.subjectType === subjectType && one.subjectId === subjectId)
}
