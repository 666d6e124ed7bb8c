import { randomBytes } from 'node:crypto'
import type { SignedProject } from '@strongroom/contract'
import {
  deriveProjectId,
  documentHash,
  type Envelope,
  makeDocument,
  projectAdmins,
  projectCreate,
  projectSet,
  type VerifiedProject,
  verifyDirectory,
  verifyProject,
  verifyTransparency,
} from '@strongroom/protocol'
import { trustOf, type Writer } from './vault-writer.ts'

// Somebody with keys who makes and changes projects through the API, each answer verified as by a client without memory.

export interface ProjectContent {
  readonly slug: string
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly vaults: readonly string[]
}

const common = ({ orgId }: Writer) => ({ org: orgId, at: Date.now() })

const contentOf = (slug: string, change: Partial<ProjectContent>): ProjectContent => ({
  slug,
  name: `Project ${slug}`,
  status: 'active',
  ...change,
  vaults: [...(change.vaults ?? [])].sort(),
})

export interface NewProjectDocs {
  readonly projectId: string
  readonly docs: Envelope[]
}

/** project.create and the first project.set. */
export async function projectDocs(
  writer: Writer,
  slug: string,
  change: Partial<ProjectContent> & { readonly admins?: readonly string[] } = {},
): Promise<NewProjectDocs> {
  const { admins = [], ...content } = change
  const all = [...new Set([writer.identity.key.principal, ...admins])].sort()
  const salt = randomBytes(16).toString('base64url')
  const create = await makeDocument(projectCreate, { ...common(writer), admins: all, salt }, [writer.identity])
  const projectId = deriveProjectId(documentHash(create))
  const set = await makeDocument(
    projectSet,
    { ...common(writer), ...contentOf(slug, content), projectId, projectVersion: 1, prev: '' },
    [writer.identity],
  )
  return { projectId, docs: [create, set] }
}

export async function makeProject(
  writer: Writer,
  slug: string,
  change: Parameters<typeof projectDocs>[2] = {},
): Promise<string> {
  const { projectId, docs } = await projectDocs(writer, slug, change)
  await writer.client.projects.create({ body: { docs } })
  return projectId
}

export async function verifySigned(writer: Writer, signed: SignedProject, projectId: string): Promise<VerifiedProject> {
  const { log, genesis, freshness } = trustOf(writer)
  const view = await verifyTransparency(signed.transparency, log, freshness)
  return verifyProject(await verifyDirectory(view, signed, genesis), { ...signed, projectId })
}

export async function readProject(writer: Writer, projectId: string) {
  const { project, signed } = await writer.client.projects.get({ params: { id: projectId } })
  return { project, signed, verified: await verifySigned(writer, signed, projectId) }
}

/** The next project.set over the project as `reader` sees it. */
export async function nextSet(
  writer: Writer,
  projectId: string,
  change: Partial<ProjectContent> = {},
  reader: Writer = writer,
): Promise<Envelope> {
  const { verified } = await readProject(reader, projectId)
  const { slug, name, status, vaults, projectVersion } = verified.payload
  const content = contentOf(slug, { name, status, vaults, ...change })
  const place = { projectId, projectVersion: projectVersion + 1, prev: verified.docHash }
  return makeDocument(projectSet, { ...common(writer), ...content, ...place }, [writer.identity])
}

/** project.admins and the next project.set with the same content. */
export async function adminsDocs(writer: Writer, projectId: string, admins: readonly string[]): Promise<Envelope[]> {
  const { signed } = await readProject(writer, projectId)
  const chain = [signed.create, ...signed.adminsChain]
  const place = {
    projectId,
    adminsVersion: chain.length + 1,
    admins: [...admins].sort(),
    prev: documentHash(chain.at(-1) as Envelope),
  }
  const document = await makeDocument(projectAdmins, { ...common(writer), ...place }, [writer.identity])
  return [document, await nextSet(writer, projectId)]
}
