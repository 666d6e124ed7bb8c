import type { Cap } from '../../src/directory/documents.ts'
import { logRecover, recoveryEnrol } from '../../src/directory/documents.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { type Principal, principalOf } from '../../src/identity/identifiers.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type ProjectState, projectName } from '../../src/log/state.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import type { Dek } from '../../src/values/dek.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { type AclEntry, projectCreate, projectSet } from '../../src/vault/documents.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { sizeAndRoot } from '../world/recovery.ts'
import { MINUTE, ORG, openWorld, type World } from '../world/world.ts'
import {
  aclOf,
  activeKeysOf,
  admit,
  commitDocs,
  join,
  kidStateOf,
  newIdentity,
  nextHead,
  recover,
  register,
  revoke,
  salt,
  setCaps,
  setPolicy,
  sign,
  vaultStateOf,
} from './desk.ts'

// A small organisation that does something valid at random: which act, by whom and on what is drawn from numbers that
// fast-check chooses and shrinks. Alice stays, so that somebody can always act.

export interface Chance {
  /** A number below `below`. */
  pick(below: number): number
}

export interface RandomOrg {
  readonly world: World
  /** Every vault key there has been, by vault and version. */
  readonly deks: Map<string, Map<number, Dek>>
  readonly projects: string[]
  made: number
}

export async function openRandomOrg(): Promise<RandomOrg> {
  const world = await openWorld()
  await join(world, admit(world, 'helper', await newIdentity('user:ou_helper')), ['member', 'recovery'])
  const deks = new Map([...world.vaults].map(([vaultId, { dek }]) => [vaultId, new Map([[1, dek]])]))
  return { world, deks, projects: [], made: 0 }
}

/** The documents of an act, and what the organisation keeps of it once it is accepted. */
interface RandomAct {
  readonly docs: readonly Envelope[]
  accepted?(): void
}
type Maker = (org: RandomOrg, chance: Chance) => Promise<RandomAct | undefined>

const one = <T>(chance: Chance, all: readonly T[]): T | undefined => all[chance.pick(Math.max(all.length, 1))]
export const everybody = ({ world }: RandomOrg): Identity[] =>
  Object.values(world.actors as unknown as Record<string, Identity>)
const active = (org: RandomOrg): Identity[] =>
  everybody(org).filter(({ kid }) => kidStateOf(org.world, kid)?.status === 'active')
const others = (org: RandomOrg): Identity[] => active(org).filter(({ kid }) => kid !== org.world.actors.alice.kid)
const known = (org: RandomOrg): Principal[] => [...new Set(active(org).map(({ kid }) => principalOf(kid)))]
const vaultIdOf = (org: RandomOrg, chance: Chance): string => one(chance, [...org.deks.keys()]) as string

async function admitNew(org: RandomOrg, principal: Principal): Promise<Identity> {
  org.made++
  return admit(org.world, `extra${org.made}`, await newIdentity(principal))
}

const addKey: Maker = async (org, chance) => {
  const fresh = chance.pick(2) === 0
  const principal = fresh ? (`user:ou_new${org.made}` as Principal) : (one(chance, known(org)) as Principal)
  const who = await admitNew(org, principal)
  const isAgent = principal.startsWith('agent:')
  const extra = one(chance, [[], [], ['dir-admin'], ['agent-manager'], ['recovery']] as Cap[][]) as Cap[]
  const caps: Cap[] = isAgent ? ['agent'] : ['member', ...extra]
  return { docs: [await register(org.world, who, caps, org.world.actors.alice)] }
}

const rotate: Maker = async (org, chance) => {
  const old = one(chance, others(org))
  if (!old || old.key.bundle.sigAlg === 'PS256') return undefined
  const held = org.world.host.ledger.grantsOfKid(old.kid) as readonly { vaultId: string; dekVersion: number }[]
  const keys = held.map(({ vaultId, dekVersion }) => org.deks.get(vaultId)?.get(dekVersion) as Dek)
  const next = await admitNew(org, old.key.principal)
  const { event, replacements } = await rotateKey({ org: ORG, at: org.world.now, held: keys }, old, next)
  return { docs: [event, ...replacements] }
}

const endKey: Maker = async (org, chance) => {
  const who = one(
    chance,
    everybody(org).filter(({ kid }) => kidStateOf(org.world, kid)),
  )
  if (!who || who.kid === org.world.actors.alice.kid) return undefined
  const reason = one(chance, ['superseded', 'removed', 'compromised'] as const) ?? 'removed'
  return { docs: [await revoke(org.world, who.kid, reason)] }
}

const recoverKey: Maker = async (org, chance) => {
  const principal = one(
    chance,
    known(org).filter((p) => p !== 'user:ou_alice'),
  )
  if (!principal) return undefined
  const oldKids = active(org)
    .filter(({ kid }) => principalOf(kid) === principal)
    .map(({ kid }) => kid)
  const next = await admitNew(org, principal)
  const reason = chance.pick(2) === 0 ? 'lost' : 'compromised'
  return { docs: [await recover(org.world, next, oldKids, reason, org.world.actors.alice, next)] }
}

const changeCaps: Maker = async (org, chance) => {
  const who = one(chance, others(org))
  if (!who) return undefined
  const caps: Cap[] = who.kid.startsWith('agent:')
    ? ['agent']
    : ['member', ...(chance.pick(2) ? (['recovery'] as Cap[]) : [])]
  return { docs: [await setCaps(org.world, who.kid, caps, org.world.actors.alice)] }
}

const changePolicy: Maker = async (org, chance) => ({
  docs: [
    await setPolicy(org.world, { rotationGraceMs: 1_000_000 * MINUTE + chance.pick(1000) }, org.world.actors.alice),
  ],
})

const enrol: Maker = async (org, chance) => {
  const by = one(
    chance,
    active(org).filter(({ kid }) => kid.startsWith('user:')),
  )
  const to = (org.world.actors as unknown as Record<string, Identity>).helper
  if (!by || !to) return undefined
  return {
    docs: [
      await sign(org.world, recoveryEnrol, { recoveryKid: to.kid, sealHash: documentHash(org.world.genesis) }, by),
    ],
  }
}

const grant: Maker = async (org, chance) => {
  const vaultId = vaultIdOf(org, chance)
  const readers = activeKeysOf(org.world, aclOf(org.world, vaultId))
  const to = one(chance, readers)
  const dek = one(chance, [...(org.deks.get(vaultId)?.values() ?? [])])
  return to && dek && { docs: [await wrapDek(dek, to, org.world.actors.alice, org.world.now)] }
}

const write: Maker = async (org, chance) => {
  const vaultId = vaultIdOf(org, chance)
  const { oldestDek, dekVersion } = vaultStateOf(org.world, vaultId)
  const head = { oldestDek: oldestDek + chance.pick(dekVersion - oldestDek + 1) }
  return { docs: [await nextHead(org.world, head, org.world.actors.alice, vaultId)] }
}

const access: Maker = async (org, chance) => {
  const vaultId = vaultIdOf(org, chance)
  const roles = new Map(aclOf(org.world, vaultId).map(({ p, role }) => [p, role]))
  for (let i = 0; i <= chance.pick(3); i++) {
    const principal = one(chance, known(org))
    if (!principal || roles.get(principal) === 'admin') continue
    if (chance.pick(2) === 0) roles.delete(principal)
    else roles.set(principal, chance.pick(2) === 0 ? 'read' : 'write')
  }
  const acl: AclEntry[] = [...roles].map(([p, role]) => ({ p, role })).sort((a, b) => (a.p < b.p ? -1 : 1))
  const how = one(chance, [{ deferRotation: true }, { rotate: 'member-removed' as const }, {}])
  const made = await commitDocs(org.world, { vaultId, acl, ...how })
  return { docs: made.all, accepted: () => made.dek && org.deks.get(vaultId)?.set(made.dek.dekVersion, made.dek) }
}

const epoch: Maker = async (org, chance) => {
  const vaultId = vaultIdOf(org, chance)
  const made = await commitDocs(org.world, { vaultId, rotate: 'scheduled' })
  const dek = made.dek as Dek
  return { docs: made.all, accepted: () => org.deks.get(vaultId)?.set(dek.dekVersion, dek) }
}

const newVault: Maker = async (org, chance) => {
  const { alice } = org.world.actors
  const reader = one(
    chance,
    others(org).filter(({ kid }) => principalOf(kid) !== alice.key.principal),
  )
  const acl: AclEntry[] = [
    { p: alice.key.principal, role: 'admin' },
    ...(reader ? [{ p: reader.key.principal, role: 'read' as const }] : []),
  ]
  const made = await createVault(
    {
      org: ORG,
      meta: { name: 'New', classification: 'internal', status: 'active' },
      acl,
      recipients: activeKeysOf(org.world, acl),
      at: org.world.now,
    },
    alice,
  )
  const { vaultId, dek } = made
  return {
    docs: [made.commit.head, ...made.commit.docs],
    accepted: () => org.deks.set(vaultId, new Map([[1, dek]])),
  }
}

const move: Maker = async (org, chance) => {
  const [from, to] = [vaultIdOf(org, chance), vaultIdOf(org, chance)]
  const { alice } = org.world.actors
  return { docs: [await nextHead(org.world, {}, alice, from), await nextHead(org.world, {}, alice, to)] }
}

const project: Maker = async (org, chance) => {
  const { alice } = org.world.actors
  const members = { slug: 'some', name: 'Some', status: 'active' as const, vaults: [vaultIdOf(org, chance)] }
  const projectId = one(chance, org.projects)
  if (projectId && chance.pick(2) === 0) {
    const state = org.world.host.state(projectName(projectId)) as ProjectState
    const next = { projectId, projectVersion: state.projectVersion + 1, prev: state.docHash }
    return { docs: [await sign(org.world, projectSet, { ...members, ...next }, alice)] }
  }
  const create = await sign(org.world, projectCreate, { admins: [alice.key.principal], salt: salt() }, alice)
  const id = deriveProjectId(documentHash(create))
  const set = await sign(org.world, projectSet, { ...members, projectId: id, projectVersion: 1, prev: '' }, alice)
  return { docs: [create, set], accepted: () => org.projects.push(id) }
}

/** The log goes on where it is: for the rules it is the statement that counts, whatever was lost. */
const restore: Maker = async (org, chance) => {
  const { size, root } = sizeAndRoot(org.world)
  const lost = { size: size + chance.pick(3), root: '' }
  const members = { keptSize: size, keptRoot: root, lost, reason: 'restored', salt: salt() }
  return { docs: [await sign(org.world, logRecover, members, org.world.actors.alice)] }
}

export const MAKERS: readonly Maker[] = [
  addKey,
  addKey,
  rotate,
  endKey,
  recoverKey,
  changeCaps,
  changePolicy,
  enrol,
  grant,
  write,
  write,
  access,
  access,
  epoch,
  newVault,
  move,
  project,
  restore,
]

/** Draws one act; undefined where what was drawn cannot be done now. */
export async function drawAct(org: RandomOrg, chance: Chance): Promise<RandomAct | undefined> {
  org.world.now += chance.pick(10) * MINUTE
  const maker = one(chance, MAKERS) as Maker
  return maker(org, chance)
}
