import { inOrg } from '../../src/context.ts'
import { seedSession } from '../agent-seed.ts'
import type { Harness } from '../harness.ts'
import { makeLogOrg } from '../log-org.ts'
import type { Writer } from '../vault-writer.ts'
import type { Caller, Place, Principal } from './relations.ts'

// Who founded an organisation: the one person of it whose keys are in the log, and so the only one who can sign.

export interface Founder {
  readonly writer: Writer
  readonly principal: Principal & { readonly caller: Caller }
}

export async function makeFoundedOrg(h: Harness, name: string) {
  const { deps } = h
  let session: Awaited<ReturnType<typeof seedSession>> | undefined
  const { orgId, tenantId, founder, trustAnchor } = await makeLogOrg(h, name, async (org) => {
    session = await seedSession(h, org, ['ORG_OWNER'])
    return `user:${session.userId}`
  })
  if (!session) throw new Error('an organisation has no founder')
  const { client, accessToken, userId, sessionId } = session
  // The matrix moves the clock by hours.
  const expires_at = new Date(deps.now().getTime() + 30 * 86_400_000)
  await inOrg(deps, orgId, (db) =>
    db.updateTable('session').set({ expires_at }).where('session_id', '=', sessionId).execute(),
  )
  const callerAt = (home: Place): Caller => ({
    type: 'user',
    id: `user:${userId}`,
    credential: 'token',
    home,
    userId,
    permissions: ['machine.all'],
    orgRoles: ['ORG_OWNER'],
    tenantRoles: [],
  })
  const writer: Writer = { orgId, identity: founder, client, trustAnchor }
  return {
    orgId,
    tenantId,
    founder: (home: Place): Founder => ({
      writer,
      principal: {
        name: 'the founder',
        headers: { authorization: `Bearer ${accessToken}` },
        caller: callerAt(home),
      },
    }),
  }
}
