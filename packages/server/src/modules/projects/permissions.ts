import type { projects } from '@strongroom/contract'
import { ensureChangeable, openProject } from '../../access/projects.ts'
import type { VaultRole } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { lockOrgLog } from '../../log/append.ts'
import { ensureOnce, ensureStays, ensureUnchanged, etagOf } from '../permissions/service.ts'
import { signedProject } from './answer.ts'
import { commitAdmins, refuseUnless } from './commit.ts'
import * as store from './store.ts'

// Who is shown a project. Its ADMINs are the signed admins and change only by their signature; readers are the server's own
// list, since a project opens no vault.

type Shown = { principal: string; role: 'READ' | 'WRITE' | 'ADMIN' }
const shown = ({ principal, role }: store.Entry): Shown => ({ principal, role: role.toUpperCase() as Shown['role'] })
const kept = ({ principal, role }: Shown): store.Entry => ({ principal, role: role.toLowerCase() as VaultRole })

async function answer(ctx: TxCtx, place: store.Place) {
  const entries = await store.entries(ctx.db, place)
  return { data: entries.map(shown), etag: etagOf(entries), signed: await signedProject(ctx, place) }
}

export const permissions: Handler<typeof projects.permissions> = (ctx, { params }) =>
  transact(ctx, async (ctx) => answer(ctx, await openProject(ctx, params.id)), { atOneMoment: true })

function readEntries(listed: readonly Shown[]): store.Entry[] {
  const entries = listed.map(kept)
  ensureOnce(entries)
  if (!entries.some(({ role }) => role === 'admin')) throw new ApiError('last_admin')
  return entries
}

/** Whoever joins is somebody here. Who has left since stays until they are taken off: that must not keep others from the list. */
async function ensureKnown(
  { db, principal }: TxCtx,
  entries: readonly store.Entry[],
  before: readonly store.Entry[],
): Promise<void> {
  const listed = new Set(before.map((entry) => entry.principal))
  const joining = entries.map((entry) => entry.principal).filter((one) => !listed.has(one))
  const principals = await store.unknownPrincipals(db, principal.orgId, joining)
  const [first] = principals
  if (first === undefined) return
  throw new ApiError(first.startsWith('agent:') ? 'agent_not_found' : 'user_not_found', { details: { principals } })
}

const adminsIn = (entries: readonly store.Entry[]): string[] =>
  entries
    .filter(({ role }) => role === 'admin')
    .map(({ principal }) => principal)
    .sort()

export const setPermissions: Handler<typeof projects.setPermissions> = (ctx, { params, query, body }) =>
  transact(ctx, async (ctx) => {
    // The turn of the log is also that of the editors of a list: they follow one another.
    await lockOrgLog(ctx)
    const project = ensureChangeable(await openProject(ctx, params.id))
    const before = await store.entries(ctx.db, project)
    ensureUnchanged(ctx, etagOf(before))
    const entries = readEntries(body.entries)
    ensureStays(ctx, entries, query.allowSelfRemoval)
    await ensureKnown(ctx, entries, before)
    const admins = { before: adminsIn(before), after: adminsIn(entries) }
    if (body.docs) await commitAdmins(ctx, project, body.docs, admins)
    else refuseUnless(admins.after.join() === admins.before.join(), 'admins_not_signed')
    await store.replaceEntries(ctx.db, project, entries)
    await record(ctx, { action: 'project.set-permissions', targets: [{ type: 'project', id: project.projectId }] })
    return answer(ctx, project)
  })
