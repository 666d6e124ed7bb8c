import { type LogRecoverPayload, logRecover } from '../../src/directory/documents.ts'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { parseLeaf } from '../../src/log/leaf.ts'
import { encodeProof, leafHash } from '../../src/log/merkle.ts'
import { proveInclusion, rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import type { RecoveryAnswer } from '../../src/trust/recovery.ts'
import { fullResponse } from '../directory/full.ts'
import { type LoggedLeaf, openLogHost } from './log-host.ts'
import { ORG, type StoredVault, type World } from './world.ts'

// A server that is put back to a backup: the same organisation, the log as it was then, and what becomes of it afterwards.

export interface Backup {
  readonly leaves: readonly LoggedLeaf[]
  readonly vaults: ReadonlyMap<string, StoredVault>
}

const copyOf = (stored: StoredVault): StoredVault => ({
  ...stored,
  items: new Map(stored.items),
  values: new Map(stored.values),
  documents: new Map(stored.documents),
})

export const backupOf = ({ host, vaults }: World): Backup => ({
  leaves: [...host.leaves],
  vaults: new Map([...vaults].map(([vaultId, stored]) => [vaultId, copyOf(stored)])),
})

/** Puts the world back. Nothing that came after the backup is left on the server. */
export async function restoreTo(world: World, { leaves, vaults }: Backup): Promise<void> {
  const host = await openLogHost(ORG)
  for (const { docs, made } of leaves) await host.append(docs, parseLeaf(made.bytes).at)
  Object.assign(world, { host })
  world.vaults.clear()
  for (const [vaultId, stored] of vaults) world.vaults.set(vaultId, copyOf(stored))
}

const hashes = ({ host }: World) => host.leaves.map(({ made }) => leafHash(made.bytes))

/** The log as it stands, as a statement names it. */
export const sizeAndRoot = (world: World): { size: number; root: string } => ({
  size: world.host.leaves.length,
  root: toBase64url(rootOfLeaves(hashes(world))),
})

/** Restores, and remembers what was lost by it. */
export async function loseTo(world: World, backup: Backup): Promise<{ size: number; root: string }> {
  const lost = sizeAndRoot(world)
  await restoreTo(world, backup)
  return lost
}

export function makeStatement(
  world: World,
  lost: { readonly size: number; readonly root: string },
  signers: readonly [Signer, ...Signer[]],
  change: Partial<LogRecoverPayload> = {},
): Promise<Envelope> {
  const { size: keptSize, root: keptRoot } = sizeAndRoot(world)
  const members = { org: ORG, at: world.now, keptSize, keptRoot, lost, reason: 'disk failure', ...change }
  return makeDocument(logRecover, { ...members, salt: 'AAAAAAAAAAAAAAAAAAAAAA' }, signers)
}

/** What the server answers when it is asked for a recovery: the statement, its leaf, its signers, and the log from there. */
export async function recoveryAnswer(world: World, statement: Envelope): Promise<RecoveryAnswer> {
  const { keptSize } = peekDocument(logRecover, statement).payload
  const leaf = world.host.leaves[keptSize]?.made.bytes as Uint8Array
  const options = { at: world.now, have: keptSize }
  return {
    statement,
    inclusion: { leaf: toBase64(leaf), hashes: encodeProof(proveInclusion(hashes(world), keptSize)) },
    ...fullResponse(world),
    transparency: await world.host.transparency([...world.host.ledger.names()], options),
  }
}
