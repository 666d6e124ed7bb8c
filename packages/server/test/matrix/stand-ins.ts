import { requestEndorsement } from '@strongroom/protocol'
import { identityOf } from '../actors.ts'
import type { Writer } from '../vault-writer.ts'
import type { Caller } from './relations.ts'

// Documents that are in order but for one thing: they get as far as somebody without the right keys can get.

/** A head in the right form that names a vault, and that the founder seems to have signed. */
export async function headTemplate(writer: Writer, vaultId: string): Promise<(vaultId: string) => unknown> {
  const { signed } = await writer.client.vaults.get({ params: { vaultId } })
  const text = Buffer.from(signed.head.payload, 'base64').toString()
  return (other) => ({ ...signed.head, payload: Buffer.from(text.replaceAll(vaultId, other)).toString('base64') })
}

/** No document at all. */
export const NOTHING = { payload: '', payloadType: 'x', signatures: [] }

/** What an agent asks its endorser for, signed by the agent's new key: here the endorser is whoever brings it. */
export async function keyRequest(agentId: string, { id, home }: Caller): Promise<unknown> {
  // Only people and agents have keys.
  if (!/^(?:user|agent):/.test(id)) return NOTHING
  const endorser = `${id}:${'a'.repeat(32)}`
  const identity = await identityOf('deploy', `agent:${agentId}`)
  return requestEndorsement({ org: home.orgId, caps: ['agent'], at: Date.now(), endorser }, identity)
}
