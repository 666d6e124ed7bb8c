import {
  EMPTY_TRUST_STORE,
  type OrgTrust,
  ProtocolError,
  parseTrustAnchor,
  pinAnchor,
  type TrustStore,
} from '@strongroom/protocol'
import { StrongroomError } from '../strongroom/strongroom-error.ts'
import { makeQueue } from './queue.ts'

// Where a client keeps what it remembers (docs/reference/protocol.md 9.1). The protocol computes the next store; a keeper only stores it.

export interface TrustKeeper {
  read(): Promise<TrustStore>
  /**
   * Reads, changes and stores as one step: of two updates at once none is lost. Resolves when the change is stored for good;
   * if `change` refuses or storing fails, the store stays as it was. `change` may run more than once.
   */
  update(change: (store: TrustStore) => TrustStore | Promise<TrustStore>): Promise<TrustStore>
}

/** Remembers as long as the process lives. */
export function memoryTrust(initial: TrustStore = EMPTY_TRUST_STORE): TrustKeeper {
  let store = initial
  const inTurn = makeQueue()
  return {
    read: async () => store,
    update: (change) =>
      inTurn(async () => {
        store = await change(store)
        return store
      }),
  }
}

/** Asked for when something has failed: a start that goes well needs none of it. */
export const failed = () => import('./trust-failed.ts')

/** The same keeper, whose failures say what they are. What `change` refuses stays as it is. */
export const explained = (keeper: TrustKeeper): TrustKeeper => ({
  read: () =>
    keeper.read().catch(async (error: unknown) => {
      throw StrongroomError.is(error) ? error : (await failed()).unreadable(error)
    }),
  update: (change) =>
    keeper.update(change).catch(async (error: unknown) => {
      throw error instanceof ProtocolError || StrongroomError.is(error) ? error : (await failed()).unwritable(error)
    }),
})

/** Pins an organisation by its trust anchor; refuses with `genesis_mismatch` one that is pinned differently. */
export async function pinTrust(
  trust: TrustKeeper,
  anchor: string,
  mode: OrgTrust['mode'] = 'pinned',
): Promise<TrustStore> {
  const parsed = parseTrustAnchor(anchor)
  const before = await trust.read()
  const isPinned = pinAnchor(before, parsed, mode) === before
  return isPinned ? before : trust.update((store) => pinAnchor(store, parsed, mode))
}
