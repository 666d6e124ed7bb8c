import type { Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { byName } from '../../ui/name-order.ts'

export const projectsQuery = (strongroom: Strongroom) =>
  queryOptions({
    queryKey: ['projects'],
    queryFn: async ({ signal }) => (await strongroom.projects.list({}, { signal }).all()).toSorted(byName),
  })

/** Verified in this browser: its vaults are those its admins signed for. */
export const projectQuery = (strongroom: Strongroom, projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId],
    queryFn: ({ signal }) => strongroom.projects.get(projectId, { signal }),
  })

/** What compromised keys signed last of a project that nobody is shown. */
export const reviewProjectQuery = (strongroom: Strongroom, projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId, 'review'],
    queryFn: ({ signal }) => strongroom.projects.review(projectId, { signal }),
  })

export const projectAccessQuery = (strongroom: Strongroom, projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId, 'access'],
    queryFn: ({ signal }) => strongroom.permissions.list({ project: projectId }, { signal }),
  })
