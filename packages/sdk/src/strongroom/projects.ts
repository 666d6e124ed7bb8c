import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'

export interface Project {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly vaultIds: readonly string[]
  readonly version: number
  /** False in lists, where the server's word stands alone. */
  readonly isVerified: boolean
}

export interface ProjectChange {
  readonly name?: string
  readonly slug?: string
  /** Ids or names; exactly these from now on. */
  readonly vaults?: readonly string[]
}

/** What of a project compromised keys signed last, by the ids of those keys; null for what is sound. */
export interface UnsoundProject {
  /** As it was signed, by whomever. */
  readonly project: Project
  readonly content: string | null
  /** Who administers the project, or its creation. */
  readonly admins: string | null
  readonly adminsVersion: number
  readonly administrators: readonly string[]
}

export interface Projects {
  list(params?: ListParams, options?: RequestOptions): PagePromise<Project>
  /** By id or slug. */
  get(project: string, options?: RequestOptions): ApiPromise<Project>
  create(project: ProjectChange & { readonly name: string }, options?: RequestOptions): ApiPromise<Project>
  update(project: string, change: ProjectChange, options?: RequestOptions): ApiPromise<Project>
  archive(project: string, options?: RequestOptions): ApiPromise<void>
  /** What of it was last signed by keys that were found to be compromised: it is refused to everybody until it is attested. */
  review(project: string, options?: RequestOptions): ApiPromise<UnsoundProject>
  /** Signs that anew, as it is, after somebody has looked at it. What a review did not show is refused. */
  attest(reviewed: UnsoundProject, options?: RequestOptions): ApiPromise<Project>
}

const changes = () => import('./project-changes.ts')
const attests = () => import('./project-attest.ts')

export function projectsOf(core: Core): Projects {
  return {
    list: (params = {}, options) =>
      numberedPages(
        core,
        async (query, client, call) => {
          const { data, meta } = await client.projects.list({ query }, call)
          return { data: data.map((await changes()).listed), meta }
        },
        params,
        options,
      ),
    get: (project, options) => core.keyed(options, async (place) => (await changes()).getProject(place, project)),
    create: (project, options) => core.keyed(options, async (place) => (await changes()).createProject(place, project)),
    update: (project, change, options) =>
      core.keyed(options, async (place) => (await changes()).updateProject(place, project, change)),
    archive: (project, options) =>
      core.keyed(options, async (place) => (await changes()).archiveProject(place, project)),
    review: (project, options) => core.keyed(options, async (place) => (await attests()).reviewProject(place, project)),
    attest: (reviewed, options) =>
      core.keyed(options, async (place) => (await attests()).attestProject(place, reviewed)),
  }
}
