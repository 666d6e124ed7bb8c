import { randomBytes } from 'node:crypto'
import { inOrg } from '../../src/context.ts'
import { insertIntent } from '../../src/modules/funding/store.ts'
import type { Kind } from './kinds.ts'

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`
/** Far from those that the sequence gives. */
const unusedIndex = (): number => 1_000_000 + randomBytes(4).readUInt32BE() / 4

/** Of an organisation, and so nobody's of its tenants. */
const fundingIntent: Kind = {
  relations: ['own', 'other-org'],
  make: async ({ h: { deps } }, { place }) => {
    const [intentId, createdAt] = [deps.newId('fin'), deps.now()]
    await inOrg(deps, place.orgId, (db) =>
      insertIntent(db, place.orgId, {
        intentId,
        addressIndex: Math.floor(unusedIndex()),
        address: hex(20),
        chainId: 1,
        symbol: 'TUSD',
        contract: hex(20),
        decimals: 6,
        target: '1000000',
        expiresAt: new Date(createdAt.getTime() + 90 * 86_400_000),
        createdBy: 'test',
        createdAt,
      }),
    )
    return intentId
  },
  absent: ({ h }) => h.deps.newId('fin'),
}

export const FUNDING_KINDS = { fundingIntent } as const satisfies Record<string, Kind>
