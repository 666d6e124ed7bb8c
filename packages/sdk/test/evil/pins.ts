import {
  EMPTY_TRUST_STORE,
  parseTrustAnchor,
  pinAnchor,
  serialiseTrustStore,
  type TrustStore,
} from '@strongroom/protocol'
import type { Deed } from '../../evil-server/attack.ts'
import type { Who } from './victim.ts'

const ONE_REQUEST: ReadonlySet<Deed> = new Set(['env', 'me', 'project'])
/** Whether the answer that lies is the only one of a deed. */
export const isOneRequest = (deed: Deed): boolean => ONE_REQUEST.has(deed)

/**
 * What is pinned, byte for byte. Alarms are kept in the same store and change no pin; and where honest answers come before the
 * one that lies, the time at which the server was last heard may be theirs.
 */
export function pinsOf(store: TrustStore, deed: Deed): string {
  const orgs = Object.entries(store.orgs).map(([org, { checkpointAt, ...trust }]) => [
    org,
    { ...trust, alarms: [], checkpointAt: isOneRequest(deed) ? checkpointAt : 0 },
  ])
  return serialiseTrustStore({ ...store, orgs: Object.fromEntries(orgs) as TrustStore['orgs'] })
}

export const anchored = ({ trustAnchor }: Who): TrustStore =>
  pinAnchor(EMPTY_TRUST_STORE, parseTrustAnchor(trustAnchor), 'pinned')
