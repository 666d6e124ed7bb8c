import { deriveProjectId, type Envelope } from '@strongroom/protocol'
import { type ChangeableProject, ensureChangeable, openProject, PROJECT_ID } from '../../access/projects.ts'
import { ensureReadable } from '../../access/vault-sets.ts'
import { record } from '../../audit/record.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { appendAct, lockOrgLog } from '../../log/append.ts'
import { signedProject } from './answer.ts'
import {
  ensureAdministrators,
  type ProjectSetPayload,
  type SignedSet,
  takeChange,
  takeCreation,
  takeSet,
} from './documents.ts'
import * as store from './store.ts'

// A change of a project (docs/reference/protocol.md 5.7, project.commit): checked, logged and stored in one transaction, or not at all.
// The row of the log is locked first, so that what is checked is what is changed.

/** What a route says about the project.set it takes; refuses with `invalid_document`. */
export type ProjectRule = (set: ProjectSetPayload, before: ChangeableProject) => void

export function refuseUnless(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new ApiError('invalid_document', { details: { rule } })
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/
const NAME = /^\P{Cc}{1,200}$/u

const append = (ctx: TxCtx, docs: readonly Envelope[]) =>
  appendAct(ctx, ctx.db, ctx.principal.orgId, { docs, allowed: ['project.commit'] })

const contentOf = ({ payload, hash }: SignedSet): store.Content => ({ ...payload, docHash: hash })

/** Slug and name can stand in a URL and on a line; the slug is free; each vault that joins is one the caller reads. */
async function ensureTerms(
  ctx: TxCtx,
  { slug, name, vaults }: ProjectSetPayload,
  before: Pick<ChangeableProject, 'slug' | 'vaults'> = { slug: '', vaults: [] },
): Promise<void> {
  refuseUnless(SLUG.test(slug) && !PROJECT_ID.test(slug), 'slug')
  refuseUnless(NAME.test(name), 'name')
  const known = new Set(before.vaults)
  await ensureReadable(
    ctx,
    vaults.filter((vaultId) => !known.has(vaultId)),
  )
  if (slug !== before.slug && (await store.isSlugTaken(ctx.db, ctx.principal.orgId, slug)))
    throw new ApiError('slug_taken')
}

export interface Committed extends store.Place {
  readonly index: number
}

const recordChange = (ctx: TxCtx, action: string, { projectId, index }: Committed) =>
  record(ctx, { action, targets: [{ type: 'project', id: projectId }], metadata: { index } })

/** Makes a project under the id that follows from its creation; its signed admins are the first on its access list. */
export async function commitNewProject(ctx: TxCtx, docs: readonly Envelope[]): Promise<Committed> {
  const { orgId, tenantId, id } = ctx.principal
  if (tenantId === null) throw new ApiError('key_kind_refused')
  await lockOrgLog(ctx)
  const { create, set } = await takeCreation(ctx, docs)
  const projectId = deriveProjectId(create.hash)
  refuseUnless(set.payload.projectId === projectId, 'vault_swap')
  refuseUnless(set.payload.status === 'active', 'another_status')
  const { admins } = create.payload
  await ensureAdministrators(ctx, admins)
  await ensureTerms(ctx, set.payload)
  const { index } = await append(ctx, docs)
  await store.insertProject(ctx.db, {
    ...contentOf(set),
    orgId,
    projectId,
    tenantId,
    createHash: create.hash,
    createdBy: id,
    at: ctx.now(),
  })
  const place = { orgId, projectId }
  const entries = admins.map((principal) => ({ principal, role: 'admin' as const }))
  await store.replaceEntries(ctx.db, place, entries)
  await recordChange(ctx, 'project.create', { ...place, index })
  return { ...place, index }
}

/** The next project.set of a project the caller administers. */
export async function commitProject(
  ctx: TxCtx,
  ref: string,
  docs: readonly Envelope[],
  { rule, action }: { readonly rule: ProjectRule; readonly action: string },
): Promise<Committed> {
  await lockOrgLog(ctx)
  const project = ensureChangeable(await openProject(ctx, ref))
  const set = await takeSet(ctx, docs)
  await ensureFollows(ctx, project, set.payload)
  rule(set.payload, project)
  await ensureTerms(ctx, set.payload, project)
  return logChange(ctx, project, { docs, set, adminsHash: undefined, action })
}

const sameVaults = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((vaultId, i) => vaultId === b[i])

/** Other admins over the same content; the caller holds the log. */
export async function commitAdmins(
  ctx: TxCtx,
  project: ChangeableProject,
  docs: readonly Envelope[],
  admins: { readonly before: readonly string[]; readonly after: readonly string[] },
): Promise<void> {
  const { set, admins: signed } = await takeChange(ctx, docs)
  const { slug, name, status, vaults } = set.payload
  await ensureFollows(ctx, project, set.payload)
  const isSame = slug === project.slug && name === project.name && status === project.status
  refuseUnless(isSame && sameVaults(vaults, project.vaults), 'only_access_changes')
  refuseUnless(signed.payload.projectId === project.projectId, 'vault_swap')
  refuseUnless(sameVaults(signed.payload.admins, admins.after), 'acl_mismatch')
  await ensureAdministrators(ctx, admins.after, admins.before)
  await logChange(ctx, project, { docs, set, adminsHash: signed.hash, action: 'project.set-admins' })
}

interface Change {
  readonly docs: readonly Envelope[]
  readonly set: SignedSet
  readonly adminsHash: string | undefined
  readonly action: string
}

async function logChange(
  ctx: TxCtx,
  project: ChangeableProject,
  { docs, set, adminsHash, action }: Change,
): Promise<Committed> {
  const { index } = await append(ctx, docs)
  await store.updateProject(ctx.db, project, { ...contentOf(set), adminsHash, at: ctx.now() })
  const { orgId, projectId } = project
  await recordChange(ctx, action, { orgId, projectId, index })
  return { orgId, projectId, index }
}

/** Somebody was quicker: the refusal brings what a client needs to verify the newer project and to sign on top of it. */
async function ensureFollows(
  ctx: TxCtx,
  project: ChangeableProject,
  { projectId, projectVersion, prev }: ProjectSetPayload,
): Promise<void> {
  refuseUnless(projectId === project.projectId, 'vault_swap')
  if (projectVersion === project.projectVersion + 1 && prev === project.docHash) return
  const { projectVersion: version, docHash } = project
  const details = { projectVersion: version, docHash, current: await signedProject(ctx, project) }
  throw new ApiError('project_conflict', { details })
}
