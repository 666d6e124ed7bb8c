import { type VerifiedDirectory, verifyDirectory } from '../../src/directory/resolve.ts'
import { documentHash } from '../../src/identity/document.ts'
import { verifyTransparency } from '../../src/log/transparency.ts'
import { type Notice, type Remembered, remember, type VerifiedRound } from '../../src/trust/remember.ts'
import { logPinOf, type OrgTrust, orgTrustOf, type TrustStore } from '../../src/trust/store.ts'
import { type VerifiedHead, verifyHead, verifyVault } from '../../src/vault/vault.ts'
import { fullResponse, vaultResponse } from '../directory/full.ts'
import { openLogHost } from '../world/log-host.ts'
import { ORG, type World } from '../world/world.ts'

// What a client with a store does: read from where the store stands, and remember.

/** A read of the whole directory from where a store stands, in which some keys are looked at. */
export async function read(world: World, store: TrustStore, kids: readonly string[] = []): Promise<VerifiedDirectory> {
  const pin = logPinOf(ORG, orgTrustOf(store, ORG))
  const options = { at: world.now, ...(pin.seen && { have: pin.seen.size }) }
  const transparency = await world.host.transparency([...world.host.ledger.names()], options)
  const view = await verifyTransparency(transparency, pin, { now: world.now, maxStaleMs: 3_600_000 })
  const directory = await verifyDirectory(view, fullResponse(world), documentHash(world.genesis))
  for (const kid of kids) await directory.resolve(kid)
  return directory
}

export async function headOf(world: World, directory: VerifiedDirectory, vaultId = world.prod): Promise<VerifiedHead> {
  const response = vaultResponse(world, vaultId)
  return verifyHead(await verifyVault(directory, response), response.head)
}

export const round = (
  world: World,
  directory: VerifiedDirectory,
  more: Partial<VerifiedRound> = {},
): VerifiedRound => ({ directory, heads: [], now: world.now, ...more })

/** One read and its memory. */
export async function learn(
  world: World,
  store: TrustStore,
  kids: readonly string[] = [],
  more: Partial<VerifiedRound> = {},
): Promise<Remembered> {
  return remember(store, round(world, await read(world, store, kids), more))
}

export const trustOf = (store: TrustStore): OrgTrust => orgTrustOf(store, ORG)
export const codes = (notices: readonly Notice[]): string[] => notices.map(({ code, subject }) => `${code} ${subject}`)

/** The same organisation on a server that keeps a second history. */
export async function twinOf(world: World): Promise<World> {
  const host = await openLogHost(ORG)
  for (const { docs, made } of world.host.leaves)
    await host.append(docs, JSON.parse(new TextDecoder().decode(made.bytes)).at)
  return { ...world, host }
}
