import type { projects } from '@strongroom/contract'
import { openProject } from '../../access/projects.ts'
import { readableAmong } from '../../access/vault-sets.ts'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { signedWithKeys } from '../vaults/answer.ts'
import { environmentFields } from '../vaults/store.ts'
import { callerOf, projectAnswer, provenProject } from './answer.ts'
import { type Committed, commitNewProject, commitProject, type ProjectRule, refuseUnless } from './commit.ts'
import * as store from './store.ts'

const atOneMoment = { atOneMoment: true } as const

export const list: Handler<typeof projects.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => listAnswer('data', await store.list(ctx.db, callerOf(ctx), query), projectAnswer))

export const get: Handler<typeof projects.get> = (ctx, { params }) =>
  transact(ctx, async (ctx) => provenProject(ctx, await openProject(ctx, params.id)), atOneMoment)

const receiptOf = async (ctx: TxCtx, { index, ...place }: Committed) => ({
  index,
  ...(await provenProject(ctx, place)),
})

export const create: Handler<typeof projects.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => receiptOf(ctx, await commitNewProject(ctx, body.docs)))

/** A project is archived by its own route, so that nobody does it in passing. */
const staysActive: ProjectRule = ({ status }) => refuseUnless(status === 'active', 'another_status')

export const update: Handler<typeof projects.update> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) =>
    receiptOf(ctx, await commitProject(ctx, params.id, body.docs, { rule: staysActive, action: 'project.update' })),
  )

const onlyArchives: ProjectRule = ({ status, slug, name, vaults }, before) => {
  refuseUnless(status === 'archived', 'another_status')
  const isSame = slug === before.slug && name === before.name && vaults.join() === before.vaults.join()
  refuseUnless(isSame, 'only_the_status_changes')
}

export const archive: Handler<typeof projects.archive> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) =>
    receiptOf(ctx, await commitProject(ctx, params.id, body.docs, { rule: onlyArchives, action: 'project.archive' })),
  )

/** What the vault's own route answers with everything included, in this transaction and of this moment. */
async function environmentOf(ctx: TxCtx, vaultId: string) {
  const vault = await openVault(ctx, vaultId)
  await record(ctx, { action: 'vault.environment.read', targets: [{ type: 'vault', id: vaultId }] })
  const { headVersion, headHash } = vault
  const data = await environmentFields(ctx.db, vault)
  return { vaultId, data, headVersion, headHash, ...(await signedWithKeys(ctx, vault)) }
}

export const environment: Handler<typeof projects.environment> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const opened = await openProject(ctx, params.projectId)
      const project = found(opened.status === 'active' ? opened : undefined, 'project_not_found')
      const { projectId, vaults } = project
      const missing = vaults.length - (await readableAmong(ctx, vaults)).size
      // A part of an environment would look like a whole one to whoever starts a program with it.
      if (missing > 0) throw new ApiError('project_access_incomplete', { details: { missing } })
      await record(ctx, { action: 'project.environment.read', targets: [{ type: 'project', id: projectId }] })
      const environments = []
      for (const vaultId of vaults) environments.push(await environmentOf(ctx, vaultId))
      return { ...(await provenProject(ctx, project)), vaults: environments }
    },
    atOneMoment,
  )
