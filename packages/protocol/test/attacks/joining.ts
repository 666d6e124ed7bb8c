import { invite, keyAdd } from '../../src/directory/documents.ts'
import { acceptInvite, makeInvite, parseInviteLink, verifyAcceptance } from '../../src/directory/invite.ts'
import { documentHash, verifyDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { endorseKey, requestEndorsement, verifyPendingKey } from '../../src/runtime/runtime-key.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import { forge, namedAs } from './powers.ts'

import { keyOf } from './user.ts'

// Row 9: the way in. Whoever joins holds the link and the key, and nobody else comes in with them.

/** Alice invites; whoever holds the link accepts. */
async function invited(world: World) {
  const { alice } = world.actors
  const terms = {
    org: ORG,
    genesis: documentHash(world.genesis),
    caps: ['member'] as const,
    note: 'welcome',
    at: world.now,
  }
  const made = await makeInvite({ ...terms, expires: world.now + 1000 }, alice)
  const verified = await verifyDocument(invite, made.envelope, ORG, keyOf(world))
  const accept = (who: Identity) => acceptInvite(parseInviteLink(made.link), made.envelope, who, world.now)
  const verify = (candidate: unknown, isKnown = false) =>
    verifyAcceptance({ invite: verified, candidate, now: world.now, isKnown: () => isKnown })
  return { ...made, accept, verify }
}

export const JOINING_HONEST: readonly Honest[] = [
  {
    id: 'user-honest-invite',
    theme: 'user keys and recovery',
    title: 'an invitee with the link is endorsed without reading a fingerprint aloud',
    run: async (world) => {
      const { accept, verify } = await invited(world)
      await verify(await accept(world.actors.mallory))
    },
  },
]

export const JOINING: readonly Attack[] = [
  {
    id: 'user-invite-exchanged',
    row: 9,
    title: 'an invite of the server’s making behind a genuine link',
    code: 'key_substitution',
    run: async (world) => {
      const { link, envelope } = await invited(world)
      const other = await forge(invite, envelope, { caps: ['agent'] }, world.actors.mallory)
      return acceptInvite(parseInviteLink(link), other, world.actors.mallory, world.now)
    },
  },
  {
    id: 'user-invite-without-link',
    row: 9,
    title: 'an acceptance by somebody who never had the link',
    code: 'missing_signature',
    run: async (world) => {
      const { envelope, verify } = await invited(world)
      const { mallory, alice } = world.actors
      const request = { org: ORG, caps: ['member'] as const, at: world.now, endorser: alice.kid }
      const asked = await requestEndorsement(request, mallory)
      return verify(await forge(keyAdd, asked, { invite: documentHash(envelope) }, namedAs(mallory, mallory.kid)))
    },
  },
  {
    id: 'user-invite-key-exchanged',
    row: 9,
    title: 'an acceptance into which the server puts a key of its own',
    code: 'missing_signature',
    run: async (world) => {
      const { accept, verify } = await invited(world)
      const { mallory, malloryNext } = world.actors
      const accepted = await accept(mallory)
      return verify(await forge(keyAdd, accepted, { kid: malloryNext.kid, key: malloryNext.key.bundle }, malloryNext))
    },
  },
  {
    id: 'user-invite-for-more',
    row: 9,
    title: 'an acceptance that asks for more than was promised',
    code: 'missing_signature',
    run: async (world) => {
      const { accept, verify } = await invited(world)
      const accepted = await accept(world.actors.mallory)
      return verify(await forge(keyAdd, accepted, { caps: ['dir-admin', 'member'] }, world.actors.mallory))
    },
  },
  {
    id: 'user-invite-into-known-name',
    row: 9,
    title: 'an invitee to whom the server gives the name of a member',
    code: 'continuity_broken',
    run: async (world) => {
      const { accept, verify } = await invited(world)
      return verify(await accept(world.actors.mallory), true)
    },
  },
  {
    id: 'user-registration-without-possession',
    row: 9,
    title: 'a registration that waits for an endorser and that the key itself did not sign',
    code: 'missing_signature',
    run: async (world) => {
      const { alice, mallory } = world.actors
      const request = await requestEndorsement(
        { org: ORG, caps: ['member'], at: world.now, endorser: alice.kid },
        mallory,
      )
      return verifyPendingKey(ORG, { ...request, signatures: [] })
    },
  },
  {
    id: 'user-registration-endorsed-by-other',
    row: 9,
    title: 'a registration completed by another endorser than the key asked for',
    code: 'not_authorised',
    run: async (world) => {
      const { alice, dave, mallory } = world.actors
      const request = await requestEndorsement(
        { org: ORG, caps: ['member'], at: world.now, endorser: alice.kid },
        mallory,
      )
      return endorseKey(await verifyPendingKey(ORG, request), dave)
    },
  },
]
