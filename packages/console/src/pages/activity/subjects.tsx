import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { budgetsQuery } from '../billing/queries.ts'
import { projectsQuery } from '../projects/queries.ts'
import { useNames } from '../vaults/principals.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import type { Names } from './filter-tokens.ts'
import type { Subject } from './rows.ts'

// What events are about, by name. The server says the names; where none is known, an id is shortened.

const short = (id: string): string => (id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`)
const PRINCIPALS: Readonly<Record<string, string>> = { agent: 'agent:', user: 'user:' }

/** Budgets have the names of whom they bind. */
function useBudgetNames(isAsked: boolean, person: (principal: string) => string): ReadonlyMap<string, string> {
  const { data } = useQuery({ ...budgetsQuery(useStrongroom()), staleTime: 30_000, enabled: isAsked })
  return useMemo(() => {
    const bound = (type: string, id: string): string => {
      if (type === 'org') return 'the organisation'
      return type === 'tenant' ? 'a tenant' : person(`${type}:${id}`)
    }
    return new Map(
      (data ?? []).map(({ budgetId, subjectType, subjectId }) => [
        budgetId,
        `budget of ${bound(subjectType, subjectId)}`,
      ]),
    )
  }, [data, person])
}

/** `seen` are those that are shown: what nobody is shown is not asked for. */
export function useSubjectNames(seen: readonly Subject[] = []): Names {
  const strongroom = useStrongroom()
  const person = useNames()
  const { data: vaults } = useQuery(vaultsQuery(strongroom))
  const { data: projects } = useQuery(projectsQuery(strongroom))
  const budgets = useBudgetNames(
    seen.some(({ type }) => type === 'budget'),
    person,
  )
  const names = useMemo(
    () =>
      new Map([
        ...budgets,
        ...(vaults ?? []).map(({ vaultId, name }) => [vaultId, name] as const),
        ...(projects ?? []).map(({ id, name }) => [id, name] as const),
      ]),
    [vaults, projects, budgets],
  )
  return useMemo(() => namesFrom(names, person), [names, person])
}

function namesFrom(names: ReadonlyMap<string, string>, person: (principal: string) => string): Names {
  const subject = ({ type, id }: Subject): string => {
    const known = names.get(id)
    if (known !== undefined) return known
    if (/^(?:user|agent):[^:]+$/.test(id)) return person(id)
    // A key id: whose it is says more than the key.
    if (/^(?:user|agent):[^:]+:/.test(id)) return `a key of ${person(id.slice(0, id.lastIndexOf(':')))}`
    const prefix = PRINCIPALS[type]
    return prefix === undefined ? `${type.replaceAll('_', ' ')} ${short(id)}` : person(`${prefix}${id}`)
  }
  return { person: (principal) => (/^(?:user|agent):/.test(principal) ? person(principal) : principal), subject }
}

/** A subject with the way to its page, where it has one. */
export function SubjectLink({ subject, name }: { readonly subject: Subject; readonly name: string }) {
  const { type, id } = subject
  const bare = id.replace(/^(?:user|agent):/, '')
  if (type === 'vault')
    return (
      <Link to="/vaults/$vaultId" params={{ vaultId: id }}>
        {name}
      </Link>
    )
  if (type === 'project')
    return (
      <Link to="/projects/$projectId" params={{ projectId: id }}>
        {name}
      </Link>
    )
  if (type === 'agent' || id.startsWith('agent:'))
    return (
      <Link to="/agents/$agentId" params={{ agentId: bare.split(':')[0] ?? bare }}>
        {name}
      </Link>
    )
  if (type === 'budget') return <Link to="/billing/budgets">{name}</Link>
  if (type === 'license_purchase')
    return (
      <Link to="/licenses/purchases/$purchaseId" params={{ purchaseId: id }}>
        {name}
      </Link>
    )
  return <span title={id}>{name}</span>
}
