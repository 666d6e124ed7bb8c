import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import type { AccessRole } from './vaults.ts'

/** An item is named by its id. */
export type AccessTarget = { readonly project: string } | { readonly vault: string } | { readonly item: string }

export interface AccessEntry {
  /** `user:…` or `agent:…` */
  readonly principal: string
  readonly role: AccessRole
}

export interface AccessOptions extends RequestOptions {
  /** Lets the caller leave, or lose the role of an admin. */
  readonly allowSelfRemoval?: boolean
  /** Whoever leaves a vault keeps its key for now, openly: the log says that a rotation is due. */
  readonly deferRotation?: boolean
}

export interface Permissions {
  list(target: AccessTarget, options?: RequestOptions): ApiPromise<readonly AccessEntry[]>
  /** One entry more, or one with another role; everybody else stays. */
  grant(target: AccessTarget, entry: AccessEntry, options?: AccessOptions): ApiPromise<readonly AccessEntry[]>
  /** One entry less. A vault gets a new key, unless the rotation is deferred. */
  revoke(target: AccessTarget, principal: string, options?: AccessOptions): ApiPromise<readonly AccessEntry[]>
  /** Exactly these. */
  replace(
    target: AccessTarget,
    entries: readonly AccessEntry[],
    options?: AccessOptions,
  ): ApiPromise<readonly AccessEntry[]>
}

export type Next = (current: readonly AccessEntry[]) => readonly AccessEntry[]

const granting =
  (entry: AccessEntry): Next =>
  (current) => [...current.filter(({ principal }) => principal !== entry.principal), entry]
const revoking =
  (gone: string): Next =>
  (current) =>
    current.filter(({ principal }) => principal !== gone)

export function permissionsOf(core: Core): Permissions {
  const changing = (
    target: AccessTarget,
    next: Next,
    options: AccessOptions = {},
  ): ApiPromise<readonly AccessEntry[]> =>
    core.keyed(options, async (place) =>
      (await import('./access-changes.ts')).changeEntries(place, target, next, options),
    )
  return {
    list: (target, options) =>
      core.keyed(options, async (place) => (await import('./access-changes.ts')).listEntries(place, target)),
    grant: (target, entry, options) => changing(target, granting(entry), options),
    revoke: (target, principal, options) => changing(target, revoking(principal), options),
    replace: (target, entries, options) => changing(target, () => entries, options),
  }
}
