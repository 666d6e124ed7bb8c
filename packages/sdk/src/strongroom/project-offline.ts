import type { VerifiedProject } from '@strongroom/protocol'
import type { Actor } from '../engine/actor.ts'
import { type CachedAnswer, getAnswer, putAnswer } from '../engine/cache.ts'
import { NotCachedError } from '../engine/engine-errors.ts'
import { readEnvironment } from '../engine/environment.ts'
import { alarmingUnlessOld, ensureYoung, isGivenUp, sizeOf } from '../engine/offline.ts'
import { type Pins, pinsOf } from '../engine/verified.ts'
import type { EnvParts } from './env-bundle.ts'
import { checkProject } from './project-read.ts'
import { type Reader, secretsOf } from './read-secrets.ts'
import type { Secret } from './secret.ts'

// A project without the server: which vaults it has is what its admins signed, as it was read last, and goes through the whole
// verification again; so does what is kept of each vault.

const projectKey = ({ org }: Actor, asked: string): string => `project/${org}/${asked}`

/** Keeps the signed part of an answer that was verified. */
export const keepProject = (actor: Actor, asked: string, signed: CachedAnswer): Promise<void> =>
  putAnswer(actor.cache, projectKey(actor, asked), signed)

export async function readCachedProject(reader: Reader, asked: string, maxAgeMs?: number): Promise<EnvParts> {
  const { actor } = reader
  const project = await cachedProject(actor, asked, maxAgeMs ?? actor.policy.maxStaleMs)
  const vaults: VaultSecrets[] = []
  for (const vaultId of project.payload.vaults) {
    const read = await readEnvironment(actor, vaultId, { cached: 'only', ...(maxAgeMs !== undefined && { maxAgeMs }) })
    vaults.push({ vaultId, secrets: secretsOf(reader, read) })
  }
  return merged(vaults)
}

async function cachedProject(actor: Actor, asked: string, maxAgeMs: number): Promise<VerifiedProject> {
  const cached = await getAnswer(actor.cache, projectKey(actor, asked))
  const pins = pinsOf(actor, await actor.trust.read())
  if (!cached || isGivenUp(cached, pins.org)) throw new NotCachedError(asked)
  ensureYoung(cached, pins.org, actor.now(), maxAgeMs)
  const { answer } = cached
  const project = await alarmingUnlessOld(actor, { vaultId: undefined, answer, org: pins.org }, async () => {
    const { verified } = await checkProject(actor, answer, asked, { ...pins, log: logFor(answer, pins) }, maxAgeMs)
    const { projectId, docHash } = verified
    const pin = Object.hasOwn(pins.org.projects, projectId) ? pins.org.projects[projectId] : undefined
    // Only what was seen last can be known to be so still.
    return pin?.docHash === docHash ? verified : undefined
  })
  if (!project) throw new NotCachedError(asked)
  return project
}

/** Other reads move the pinned log past a cached answer without making it wrong. */
function logFor(answer: unknown, { log }: Pins): Pins['log'] {
  return log.seen !== null && sizeOf(answer) < log.seen.size ? { ...log, seen: null } : log
}

interface VaultSecrets {
  readonly vaultId: string
  readonly secrets: ReadonlyMap<string, Secret>
}

/** In the order of their ids, which is that of the signed project: the first one counts. */
export function merged(vaults: readonly VaultSecrets[]): EnvParts {
  const secrets = new Map<string, Secret>()
  const duplicates = new Set<string>()
  for (const vault of vaults)
    for (const [name, secret] of vault.secrets) {
      if (secrets.has(name)) duplicates.add(name)
      else secrets.set(name, secret)
    }
  return { secrets, duplicates: [...duplicates], vaultIds: vaults.map(({ vaultId }) => vaultId) }
}
