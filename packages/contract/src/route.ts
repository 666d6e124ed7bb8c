import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { NeededPermission, OrgRole, TenantRole } from './permissions.ts'

/**
 * Who may call a route, checked before the body is read. A user's access token carries every machine permission that the
 * user's roles allow; what belongs to somebody is decided in the service.
 */
export type Access =
  /** Nobody needs to be known. */
  | { readonly kind: 'public' }
  /** The one-time setup token in `X-Setup-Token`. */
  | { readonly kind: 'setup' }
  /** Any valid machine principal. */
  | { readonly kind: 'principal' }
  | { readonly kind: 'permission'; readonly permission: NeededPermission; readonly tenantRole?: TenantRole }
  /** An agent's API key with the permission. */
  | { readonly kind: 'agent'; readonly permission?: NeededPermission }
  /** A key made by the operator on the host. */
  | { readonly kind: 'global-admin'; readonly permission: NeededPermission }
  /** A person with an access token; with `anyOf`, one holding one of these roles. */
  | { readonly kind: 'user'; readonly anyOf?: readonly (OrgRole | TenantRole)[] }

/** One operation of the API. Plain data: the server mounts it, the SDK calls it, the docs print it, the tests attack it. */
export interface Route {
  readonly api: 'machine' | 'platform'
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly summary: string
  readonly access: Access
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  readonly status?: 200 | 201 | 202
  readonly response: TSchema
  /** The route's own refusals; those every route shares are not repeated. */
  readonly errors?: readonly ErrorCode[]
  /** An older name that only ever took API keys. */
  readonly apiKeyOnly?: true
  /** In bytes; 64 KiB if absent. */
  readonly bodyLimit?: number
  /** Members of the answer that are shown once: a replayed answer has them redacted. */
  readonly onceOnly?: readonly string[]
}

export type Routes = Readonly<Record<string, Route>>

type Part<R, K extends string> = R extends { readonly [P in K]: infer S extends TSchema }
  ? { readonly [P in K]: Static<S> }
  : unknown

export type Input<R extends Route> = Part<R, 'params'> & Part<R, 'query'> & Part<R, 'body'>
export type Output<R extends Route> = Static<R['response']>

export const API_PREFIX = { machine: '/api/v1/machine', platform: '/api/v1/platform' } as const
