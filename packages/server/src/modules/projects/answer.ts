import type { Project, SignedProject } from '@strongroom/contract'
import { type Envelope, POLICY_NAME, projectName } from '@strongroom/protocol'
import type { TxCtx } from '../../context.ts'
import { readSigned } from '../../log/signers.ts'
import { transparencyOf } from '../../log/transparency.ts'
import * as store from './store.ts'

/** What lets a client verify a project (docs/reference/protocol.md 4.7 and 5.4). Callers read at one moment, or hold the log. */
export async function signedProject({ db, request }: TxCtx, place: store.Place): Promise<SignedProject> {
  const { orgId, projectId } = place
  const { adminsChain, setHash } = await store.currentHashes(db, place)
  const { documents, names, genesis, policies, records, capSets } = await readSigned(db, orgId, [
    ...adminsChain,
    setHash,
  ])
  const [create, ...chain] = adminsChain.map((hash) => documentIn(documents, hash))
  return {
    projectId,
    genesis,
    policies: [...policies],
    records: [...records],
    capSets: [...capSets],
    create: create as Envelope,
    adminsChain: chain,
    set: documentIn(documents, setHash),
    transparency: await transparencyOf(db, orgId, [POLICY_NAME, projectName(projectId), ...names], request.have),
  }
}

function documentIn(documents: ReadonlyMap<string, Envelope>, hash: string): Envelope {
  const envelope = documents.get(hash)
  if (!envelope) throw new Error('the log has lost a document')
  return envelope
}

export const callerOf = ({ principal }: TxCtx): store.Caller => ({ orgId: principal.orgId, principal: principal.id })

export const projectAnswer = ({ role, tenantId, createdAt, updatedAt, ...row }: store.ProjectRow): Project => ({
  ...row,
  domainTenantId: tenantId,
  role: role && (role.toUpperCase() as 'READ' | 'WRITE' | 'ADMIN'),
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

export async function provenProject(
  ctx: TxCtx,
  place: store.Place,
): Promise<{ project: Project; signed: SignedProject }> {
  const row = await store.project(ctx.db, callerOf(ctx), place)
  return { project: projectAnswer(row), signed: await signedProject(ctx, place) }
}
