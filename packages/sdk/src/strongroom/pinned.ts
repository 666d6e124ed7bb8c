import { type OrgTrust, orgTrustOf } from '@strongroom/protocol'
import type { Core } from './core.ts'
import type { PinnedSigner } from './transparency.ts'

// What the trust store remembers of the organisation's signers.

const nameOf = async (core: Core): Promise<string> =>
  (await core.run({}, async (scope) => (await scope.actor()).org)).data

export async function trustOf(core: Core): Promise<OrgTrust> {
  // First: whoever asks for nothing else before this is pinned by it.
  const name = await nameOf(core)
  return orgTrustOf(await core.config.trust.read(), name)
}

export const pinnedSigners = async (core: Core): Promise<readonly PinnedSigner[]> =>
  Object.entries((await trustOf(core)).signers).map(([keyId, { status, via, verified }]) => ({
    keyId,
    status,
    via,
    verified,
  }))

/** How a known key was verified, as the trust store says it. */
async function noteVerified(core: Core, keyId: string, verified: 'oob' | 'endorsed'): Promise<void> {
  const name = await nameOf(core)
  await core.config.trust.update((store) => {
    const own = orgTrustOf(store, name)
    const known = Object.hasOwn(own.signers, keyId) ? own.signers[keyId] : undefined
    if (!known) return store
    const signers = { ...own.signers, [keyId]: { ...known, verified } }
    return { ...store, orgs: { ...store.orgs, [name]: { ...own, signers } } }
  })
}

export async function pin(core: Core, keyId: string): Promise<void> {
  core.config.confirmed.add(keyId)
  await noteVerified(core, keyId, 'oob')
}

export async function unpin(core: Core, keyId: string): Promise<void> {
  core.config.confirmed.delete(keyId)
  await noteVerified(core, keyId, 'endorsed')
}
