import { makeAsset } from './asset.ts'
import { makeAudit } from './audit.ts'
import { makeCheckpointVectors, makeWitnessPolicy } from './checkpoint.ts'
import { makeCodes, makeKdfFloor } from './codes.ts'
import { makeDetail } from './detail.ts'
import { makeCapsSet, makeGenesis, makeKeyAdd, makePolicySet } from './directory.ts'
import { makeDsse } from './documents.ts'
import { makeEd25519 } from './ed25519.ts'
import { makeJcsStrict, makeLp } from './encodings.ts'
import { serialise, type VectorFile } from './file.ts'
import { withFixedRandomness } from './fixed-randomness.ts'
import { makeHandoff } from './handoff.ts'
import { makeInviteVectors } from './invite.ts'
import { makeKeyRecover, makeKeyRevoke, makeKeyRotate } from './key-ends.ts'
import { makeKeyId } from './keys.ts'
import { makeLeafVectors } from './leaf.ts'
import { makeLog } from './log.ts'
import { makeLogRecover } from './log-recover.ts'
import { makeMapVectors } from './map.ts'
import { makeProject } from './project.ts'
import { makeProjectBundle } from './project-bundle.ts'
import { makeReadBundle } from './read-bundle.ts'
import { makeRecoverySeal } from './recovery-seal.ts'
import { makeTrustAnchor } from './trust-anchor.ts'
import { makeTrustStore } from './trust-store.ts'
import { makeUserBundle } from './user-bundle.ts'
import { makeDekCommit, makeField, makeItemKey, makePadding } from './values.ts'
import { makeAcl, makeHead } from './vault-acts.ts'
import { makeHybridWrap, makeWrap } from './wraps.ts'

/** By section: encodings, keys, values, wraps, directory, log, vaults, attachments, users, trust. */
const MAKERS: readonly (() => VectorFile | Promise<VectorFile>)[] = [
  ...[makeLp, makeJcsStrict, makeDsse, makeKeyId, makeEd25519],
  ...[makePadding, makeDekCommit, makeItemKey, makeField, makeWrap, makeHybridWrap],
  ...[
    makeGenesis,
    makeKeyAdd,
    makeKeyRotate,
    makeKeyRecover,
    makeKeyRevoke,
    makeCapsSet,
    makePolicySet,
    makeLogRecover,
  ],
  ...[makeInviteVectors, makeAcl, makeProject],
  ...[makeMapVectors, makeLog, makeLeafVectors, makeCheckpointVectors, makeWitnessPolicy, makeAudit],
  ...[makeHead, makeDetail, makeReadBundle, makeProjectBundle, makeHandoff, makeAsset],
  ...[makeCodes, makeKdfFloor, makeUserBundle, makeRecoverySeal, makeTrustAnchor, makeTrustStore],
]

/** Every file of vectors: its name and its text. The same in every run and on every machine. */
export async function makeAllVectors(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const make of MAKERS) {
    // Each file has random numbers of its own, so that a change in one does not change all after it.
    const file = await withFixedRandomness(`strongroom vectors ${make.name}`, async () => make())
    files.set(`${file.vectors}.json`, serialise(file))
  }
  return files
}
