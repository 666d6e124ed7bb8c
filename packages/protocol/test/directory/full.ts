import { type DirectoryResponse, type VerifiedDirectory, verifyDirectory } from '../../src/directory/resolve.ts'
import { claimedKind, documentHash, type Envelope, peekDocument } from '../../src/identity/document.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { verifyTransparency } from '../../src/log/transparency.ts'
import { vaultAdmins } from '../../src/vault/documents.ts'
import { type VaultResponse, type VerifiedVault, verifyVault } from '../../src/vault/vault.ts'
import type { World } from '../world/world.ts'

// The whole directory of a log in one answer: every state proven, every record delivered. What a client refuses of it, it
// refuses for what it says and not for what is missing.

const documentsOf = ({ host }: World): Envelope[] => host.leaves.flatMap(({ docs }) => docs)

export function fullResponse(world: World): DirectoryResponse {
  const of = (...kinds: string[]): Envelope[] =>
    documentsOf(world).filter((envelope) => kinds.includes(claimedKind(envelope)))
  return {
    genesis: world.genesis,
    policies: of('policy.set'),
    records: of('key.add', 'key.rotate', 'key.recover'),
    capSets: of('caps.set'),
  }
}

export async function openDirectory(
  world: World,
  change: Partial<DirectoryResponse> = {},
  names: readonly string[] = [...world.host.ledger.names()],
  isReviewing = false,
): Promise<VerifiedDirectory> {
  const transparency = await world.host.transparency(names, { at: world.now })
  const trust = world.trust(world.fresh())
  const view = await verifyTransparency(transparency, trust.log, trust.freshness)
  return verifyDirectory(view, { ...fullResponse(world), ...change }, documentHash(world.genesis), isReviewing)
}

/** As whoever reviews sees it, to sign anew what compromised keys signed last. */
export const reviewDirectory = (world: World): Promise<VerifiedDirectory> => openDirectory(world, {}, undefined, true)

/** The documents of a vault as the log has them now. */
export function vaultResponse({ host }: World, vaultId: string): VaultResponse {
  const state = host.state(vaultName(vaultId)) as VaultState
  const document = (docHash: string): Envelope => host.ledger.document(docHash) as Envelope
  const adminsChain: Envelope[] = []
  let create = document(state.adminsHash)
  while (claimedKind(create) === 'vault.admins') {
    adminsChain.unshift(create)
    create = document(peekDocument(vaultAdmins, create).payload.prev)
  }
  return { vaultId, create, adminsChain, acl: document(state.aclHash), head: document(state.headHash) }
}

export const openVault = async (world: World, vaultId: string, directory?: VerifiedDirectory): Promise<VerifiedVault> =>
  verifyVault(directory ?? (await openDirectory(world)), vaultResponse(world, vaultId))
