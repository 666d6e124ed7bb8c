import { kidName, principalOf } from '@strongroom/protocol'
import { asDocument, type DirectoryBody, sizeOf } from '../answers.ts'
import { type Attack, changing, DIRECTORY, ENV, GRANTS, ME, need, replacing } from '../attack.ts'
import { payloadOf, unendorsed } from '../forgery.ts'
import { kidEntry, logFalsely } from '../log.ts'

// Transport and rotation, rows 61 to 64.

interface MeBody {
  principal: { id: string }
  agent: { agentId: string } | null
  org: { orgId: string }
}

/** A key of the attacker in the place of that of a recipient. */
const strangerFor = async (
  body: DirectoryBody,
  keysAs: (principal: string) => ReturnType<Parameters<Attack['alter']>[1]['keysAs']>,
) => {
  const kid = need(body.kids[0], 'a recipient with a key')
  const identity = await keysAs(principalOf(kid))
  const { org, by } = payloadOf(body.genesis)
  const record = await unendorsed(String(org), identity, String(by))
  body.kids = body.kids.map((one) => (one === kid ? identity.kid : one))
  body.records.push(asDocument(record))
  return { identity, record }
}

export const TRANSPORT_ATTACKS: readonly Attack[] = [
  ...[302, 307].map((status) =>
    replacing(
      ENV,
      ['61', `redirect-${status}`, `a redirect (${status}) to another host`, 'REDIRECT_REFUSED', 'redirect_refused'],
      (answer, { elsewhere, asked }) => ({
        ...answer,
        status,
        headers: { location: `${elsewhere}/api/v1/machine${asked.path}` },
        body: {},
      }),
    ),
  ),
  changing<DirectoryBody>(
    DIRECTORY,
    [
      '62',
      'recipient-exchanged',
      'a key of the attacker for somebody who is given access',
      'RECIPIENT_UNVERIFIED',
      'unknown_signer',
    ],
    async (body, power) => {
      await strangerFor(body, power.keysAs)
    },
  ),
  changing<DirectoryBody>(
    DIRECTORY,
    [
      '62',
      'recipient-exchanged-logged',
      'the same, and the log holds the key',
      'RECIPIENT_UNVERIFIED',
      'missing_signature',
    ],
    async (body, power) => {
      const { identity, record } = await strangerFor(body, power.keysAs)
      const entry = kidEntry(identity.kid, record, sizeOf(body.transparency.checkpoint))
      await logFalsely(power, body.transparency, {
        t: 'key.add',
        docs: [record],
        states: { [kidName(identity.kid)]: entry },
      })
    },
  ),
  changing<DirectoryBody>(
    DIRECTORY,
    [
      '62',
      'recipient-of-others',
      'the key of somebody who was not asked for',
      'RECIPIENT_UNVERIFIED',
      'unknown_signer',
    ],
    async (body, power) => {
      body.kids.push((await power.keysAs('user:stranger')).kid)
    },
  ),
  changing<{ data: { vaultId: string }[] }>(
    GRANTS,
    [
      '63',
      'vault-dropped-from-rotation',
      'one vault left out of what a rotation has to replace',
      'ROTATION_INCOMPLETE',
      'incomplete_batch',
    ],
    (body) => {
      const { vaultId } = need(body.data[0], 'a key with two vaults')
      const rest = body.data.filter((grant) => grant.vaultId !== vaultId)
      body.data = need(rest.length > 0 && rest, 'a key with two vaults')
    },
    { second: true },
  ),
  changing<MeBody>(ME, ['64', 'other-agent', 'another agent', 'PRINCIPAL_CHANGED', 'principal_changed'], (me) => {
    me.principal.id = `${me.principal.id}x`
    if (me.agent) me.agent.agentId = `${me.agent.agentId}x`
  }),
  changing<MeBody>(
    ME,
    ['64', 'other-organisation', 'another organisation', 'PRINCIPAL_CHANGED', 'principal_changed'],
    (me) => {
      me.org.orgId = `${me.org.orgId}x`
    },
  ),
]
