import { refuseUnless } from '../engine/answers.ts'
import { compromisedIn, reviewing, UNSEEN } from '../engine/attest.ts'
import { renewProject } from './access-changes.ts'
import type { KeyedPlace } from './core.ts'
import { lastAdmins, openProject, projectOf } from './project-changes.ts'
import type { ProjectRead } from './project-read.ts'
import type { Project, UnsoundProject } from './projects.ts'

// What `vaults.review` and `vaults.attest` are for vaults (docs/reference/protocol.md 4.4).

const reviewer = (place: KeyedPlace): KeyedPlace => ({ ...place, actor: reviewing(place.actor) })

async function unsoundIn(read: ProjectRead): Promise<UnsoundProject> {
  const { adminsChain, verified, directory } = read
  const { admins, by } = lastAdmins(read)
  return {
    project: projectOf(read),
    content: await compromisedIn(directory, verified.payload.by),
    admins: await compromisedIn(directory, by),
    adminsVersion: adminsChain.length + 1,
    administrators: admins,
  }
}

export const reviewProject = async (place: KeyedPlace, asked: string): Promise<UnsoundProject> =>
  unsoundIn(await openProject(reviewer(place), asked))

export async function attestProject(place: KeyedPlace, reviewed: UnsoundProject): Promise<Project> {
  const { id } = reviewed.project
  const found = await reviewProject(place, id)
  if (found.content !== null || found.admins !== null)
    await renewProject(reviewer(place), id, async (read) => ensureReviewed(reviewed, await unsoundIn(read)))
  return projectOf(await openProject(place, id))
}

function ensureReviewed(reviewed: UnsoundProject, found: UnsoundProject): void {
  const { id, version } = reviewed.project
  const isContent = found.content === reviewed.content && found.project.version === version
  const isAdmins = found.admins === reviewed.admins && found.adminsVersion === reviewed.adminsVersion
  refuseUnless(found.content === null || isContent, 'rebase_conflict', UNSEEN, { projectId: id, part: 'content' })
  refuseUnless(found.admins === null || isAdmins, 'rebase_conflict', UNSEEN, { projectId: id, part: 'admins' })
}
