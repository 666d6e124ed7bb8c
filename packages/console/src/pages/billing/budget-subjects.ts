import type { Budget } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { tenantsQuery } from '../people/queries.ts'
import { principalsQuery, useNames } from '../vaults/principals.ts'

// Whom a budget can bind, by name, from the whole to its parts.

export type SubjectType = Budget['subjectType']

export interface Subject extends Pick<Budget, 'subjectType' | 'subjectId'> {
  readonly key: string
  readonly name: string
  /** With what it is, where names alone could be mixed up. */
  readonly label: string
}

export const SUBJECT_TITLES: Record<SubjectType, string> = {
  org: 'Organisation',
  tenant: 'Tenants',
  user: 'People',
  agent: 'Agents',
}

const WORDS: Record<SubjectType, string> = { org: '', tenant: 'tenant', user: 'person', agent: 'agent' }

export const subject = (subjectType: SubjectType, subjectId: string, name: string): Subject => ({
  ...{ subjectType, subjectId, name },
  key: `${subjectType}:${subjectId}`,
  label: subjectType === 'org' ? name : `${name} (${WORDS[subjectType]})`,
})

export function useSubjects() {
  const { strongroom, client, person } = useOpenSession()
  const names = useNames()
  const { data: tenants } = useQuery(tenantsQuery(client))
  const { data: principals } = useQuery(principalsQuery(strongroom, client))
  const subjects = useMemo(
    () => [
      subject('org', person.orgId, 'The organisation'),
      ...(tenants ?? []).map(({ tenantId, name }) => subject('tenant', tenantId, name)),
      ...(principals ?? [])
        .filter(({ isActive }) => isActive)
        .map(({ principal, name, kind }) =>
          subject(kind === 'person' ? 'user' : 'agent', principal.slice(principal.indexOf(':') + 1), name),
        ),
    ],
    [tenants, principals, person],
  )
  const subjectOf = ({ subjectType, subjectId }: Pick<Budget, 'subjectType' | 'subjectId'>): Subject => {
    const known = subjects.find(({ key }) => key === `${subjectType}:${subjectId}`)
    if (known) return known
    const name = subjectType === 'tenant' ? `tenant ${subjectId.slice(0, 8)}…` : names(`${subjectType}:${subjectId}`)
    return subject(subjectType, subjectId, name)
  }
  return { subjects, subjectOf }
}
