import {
  type DirectoryResponse,
  type Envelope,
  type ProjectResponse,
  remember,
  type VerifiedDirectory,
  type VerifiedProject,
  verifyDirectory,
  verifyProject,
  verifyTransparency,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from '../engine/actor.ts'
import { listOf, membersOf, refuseUnless } from '../engine/answers.ts'
import { type Pins, type Round, readVerified } from '../engine/verified.ts'

// A project as its admins signed it, current by the log, and remembered: it cannot go back to other vaults later.

export interface ProjectRead {
  readonly verified: VerifiedProject
  readonly directory: VerifiedDirectory
  readonly create: Envelope
  readonly adminsChain: readonly Envelope[]
}

const PROJECT_ID = /^p[a-z2-7]{32}$/

/** Verifies the signed part of an answer about the project that was asked for, by id or by slug. */
export async function checkProject(
  actor: Actor,
  candidate: unknown,
  asked: string,
  pins: Pins,
  maxStaleMs = actor.policy.maxStaleMs,
): Promise<ProjectRead> {
  const { genesis, policies, records, capSets, transparency, create, adminsChain, set, projectId } = membersOf(
    candidate,
    'signed',
  )
  for (const [name, list] of Object.entries({ policies, records, capSets, adminsChain })) listOf(list, name)
  const id = String(projectId)
  const freshness = { now: actor.now(), maxStaleMs }
  const view = await verifyTransparency(transparency, pins.log, freshness)
  const response = { genesis, policies, records, capSets } as DirectoryResponse
  const directory = await verifyDirectory(view, response, pins.org.genesis, actor.policy.isReviewing)
  const pin = Object.hasOwn(pins.org.projects, id) ? pins.org.projects[id] : undefined
  const verified = await verifyProject(directory, { projectId: id, create, adminsChain, set } as ProjectResponse, pin)
  const isAsked = PROJECT_ID.test(asked) ? id === asked : verified.payload.slug === asked
  refuseUnless(isAsked, 'project_mismatch', 'the answer is about another project', { projectId: id })
  return { verified, directory, create: create as Envelope, adminsChain: adminsChain as readonly Envelope[] }
}

/** Rounds of the engine do not carry projects: they are remembered here, before anything is released. */
export async function rememberProject(actor: Actor, { verified, directory }: ProjectRead): Promise<void> {
  const { confirmed } = actor.policy
  await actor.trust.update(
    (store) => remember(store, { directory, heads: [], projects: [verified], now: actor.now(), confirmed }).store,
  )
}

export interface ProjectQuestion<T> {
  readonly isWrite?: boolean
  ask(options: CallOptions): Promise<unknown>
  /** What is asked where a change is in, and another read has moved on meanwhile; the project itself if absent. */
  reread?(options: CallOptions): Promise<unknown>
  /** Further parts of the answer. */
  check?(
    answer: unknown,
    project: ProjectRead,
    pins: Pins,
  ): Promise<{ readonly rounds: readonly Round[]; readonly rest: T }>
}

/** Asks, verifies the project in the answer, remembers it, and releases it. */
export async function readProject<T = undefined>(
  actor: Actor,
  asked: string,
  { ask, reread, check, isWrite = false }: ProjectQuestion<T>,
  options: CallerOptions = {},
): Promise<{ readonly project: ProjectRead; readonly answer: unknown; readonly rest: T | undefined }> {
  // To repeat a change is to be answered as before, with the proof for what was known before: that links nothing any more.
  let isIn = false
  const again = reread ?? ((call: CallOptions) => actor.client.projects.get({ params: { id: asked } }, call))
  const asking = async (call: CallOptions): Promise<unknown> => {
    const answer = await (isIn ? again(call) : ask(call))
    isIn = isWrite
    return answer
  }
  const read = await readVerified(
    actor,
    {
      isWrite,
      ask: asking,
      check: async (answer, pins) => {
        const project = await checkProject(actor, membersOf(answer, 'answer').signed, asked, pins)
        const more = await check?.(answer, project, pins)
        const rounds = [{ directory: project.directory, heads: [] }, ...(more?.rounds ?? [])]
        return { rounds, result: { project, answer, rest: more?.rest } }
      },
    },
    options,
  )
  await rememberProject(actor, read.project)
  return read
}
