import { documentHash } from '../../src/identity/document.ts'
import { auditLeaf, makeLedger } from '../../src/transition/ledger.ts'
import { EMPTY_TRUST_STORE, pinAnchor } from '../../src/trust/store.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import { type LoggedLeaf, makeWitness, ORIGIN, type Witness } from '../world/log-host.ts'
import { ORG, type World } from '../world/world.ts'

// Section 5.5: who cosigns what. Witnesses look at growth; the auditor replays every leaf.

/** Replays the whole log as an auditor does. */
export async function audit(world: World, leaves: readonly LoggedLeaf[] = world.host.leaves): Promise<void> {
  const ledger = makeLedger(ORG)
  for (const { made, docs } of leaves) {
    const { updates, documents } = made
    await auditLeaf(ledger, { leaf: made.bytes, docs, ...(updates && { updates }), ...(documents && { documents }) })
  }
}

/** Those who cosign: the witnesses whatever grew, the auditor only what it could replay. */
async function cosigners(world: World): Promise<{ auditor: Witness; signing: readonly Witness[] }> {
  const auditor = await makeWitness('auditor.test', 0x63)
  const replayed = await audit(world).then(
    () => true,
    () => false,
  )
  return { auditor, signing: [...world.host.witnesses, ...(replayed ? [auditor] : [])] }
}

/** A stateless reader, as a CI runner is one, that asks for an auditor besides the witnesses, or does without. */
export async function readStateless(world: World, withAuditor: boolean): Promise<number> {
  const { auditor, signing } = await cosigners(world)
  const names = [...world.host.witnesses, auditor]
  const lines = names.map((one) => `witness ${one.name} ${one.vkey}\n`).join('')
  const tlogPolicy = `${lines}group all all ${names.map(({ name }) => name).join(' ')}\nquorum all\n`
  const anchor = { org: ORG, genesis: documentHash(world.genesis), origin: ORIGIN, logVkeys: [world.host.logVkey] }
  const store = pinAnchor(
    EMPTY_TRUST_STORE,
    { ...anchor, tlogPolicy: withAuditor ? tlogPolicy : world.host.tlogPolicy },
    'pinned',
  )
  const { worker } = world.actors
  const answer = await world.answer(world.prod, worker)
  const checkpoint = await world.host.checkpoint({ at: world.now, witnesses: signing })
  const transparency = { ...(answer.transparency as object), checkpoint }
  const { fields } = await openEnvironment({ ...answer, transparency }, world.prod, world.trust(store), worker)
  return fields.length
}
