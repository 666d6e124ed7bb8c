import type { TenantRoleEntry } from '../../access/roles.ts'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { found } from '../../errors.ts'
import * as store from './store.ts'

// What other modules do with people: let them in, find out who they are, let them go before they came.

export interface NewPerson extends store.Owner {
  readonly tenantId: string
  readonly email: string
  readonly name: string
}

/** The first person of an organisation owns it and administers its first tenant. */
export async function insertFounder(deps: Pick<Deps, 'now'>, db: Db, person: NewPerson): Promise<void> {
  await store.insertUser(db, { ...person, status: 'active', orgRoles: ['ORG_OWNER'], at: deps.now() })
  await store.addTenantRoles(db, person, [{ tenantId: person.tenantId, role: 'TENANT_ADMIN' }])
}

/** Somebody who has been invited into a tenant and is not active yet; false if the address is in use. */
export async function insertInvited(deps: Pick<Deps, 'now'>, db: Db, person: NewPerson): Promise<boolean> {
  const made = await store.insertUser(db, { ...person, status: 'invited', orgRoles: [], at: deps.now() })
  if (made) await store.addTenantRoles(db, person, [{ tenantId: person.tenantId, role: 'TENANT_MEMBER' }])
  return made
}

export const activateInvited = (db: Db, owner: store.Owner): Promise<boolean> => store.activate(db, owner)
export const dismissInvited = (db: Db, owner: store.Owner): Promise<void> => store.remove(db, owner)

export const activeUser = (db: Db, orgId: string, userId: string): Promise<store.ActiveUser | undefined> =>
  store.activeUser(db, { orgId, userId })
export const emailOf = async (db: Db, owner: store.Owner): Promise<string> =>
  found(await store.activeUser(db, owner), 'user_not_found').email

export const giveTenantRole = (db: Db, owner: store.Owner, entry: TenantRoleEntry): Promise<void> =>
  store.addTenantRoles(db, owner, [entry])
