import type { ErrorCode } from '@strongroom/contract'
import { people, permitted, type Row, type Slot } from './oracle.ts'
import { type Caller, holdsPermission, type Place } from './relations.ts'
import { vaultFor } from './rows-vaults.ts'
import { NOTHING } from './stand-ins.ts'

// Licences, from the specification and what is decided about money: what was bought is its buyer's, and is seen by those who manage the
// money of the organisation; the credential is handed to the buyer alone.

const READING = permitted('machine.license.read')
const WRITING = permitted('machine.license.write')

const managesMoney = ({ orgRoles, home }: Caller, place: Place): boolean =>
  home.orgId === place.orgId &&
  ['ORG_OWNER', 'ORG_ADMIN', 'ORG_BILLING_MANAGER'].some((role) => orgRoles.includes(role))

const bought = (kind: 'purchase' | 'license' | 'termination', absent: ErrorCode): Slot => ({
  kind,
  refuses: (caller, { relation, place }) => {
    const isThere = place !== undefined && relation !== 'absent'
    return isThere && (relation === 'own' || managesMoney(caller, place)) ? undefined : absent
  },
})

/** Nobody else could open what was sealed, whatever they manage. */
const buyersOwn: Slot = {
  kind: 'purchase',
  refuses: (_, { relation }) => (relation === 'own' ? undefined : 'purchase_not_found'),
}

const needsVaults = ({ permissions }: Caller): ErrorCode | undefined =>
  holdsPermission(permissions, 'machine.vault.write') ? undefined : 'machine_permission_denied'

export const LICENSES: readonly Row[] = [
  { route: 'GET /machine/licenses', may: READING },
  {
    route: 'POST /machine/licenses/quote',
    may: READING,
    body: () => ({ licenseId: 'sandbox-once' }),
    silent: true,
  },
  {
    route: 'POST /machine/licenses/purchase',
    may: WRITING,
    also: needsVaults,
    ids: { vault: vaultFor('write') },
    body: ({ vault }) => ({ licenseId: 'sandbox-once', vault: { vaultId: vault } }),
    // Nobody but the founder has a key here.
    ends: 'recipient_key_missing',
  },
  {
    route: 'GET /machine/licenses/purchases/:purchaseId/status',
    may: READING,
    ids: { purchaseId: bought('purchase', 'purchase_not_found') },
  },
  {
    route: 'POST /machine/licenses/purchases/:purchaseId/vault-item',
    may: WRITING,
    also: needsVaults,
    ids: { purchaseId: buyersOwn },
    body: () => ({
      commit: { expect: { headVersion: 0, headHash: '' }, head: NOTHING, docs: [], values: {} },
      receipt: NOTHING,
    }),
    ends: 'handoff_not_ready',
  },
  {
    route: 'POST /machine/licenses/purchases/:purchaseId/resume',
    may: WRITING,
    ids: { purchaseId: bought('purchase', 'purchase_not_found') },
    ends: 'purchase_not_resumable',
  },
  {
    route: 'GET /machine/licenses/:licenseInstanceId/environment',
    may: permitted('machine.vault.secret.read'),
    ids: { licenseInstanceId: bought('license', 'license_instance_not_found') },
    ends: 'license_handoff_pending',
  },
  {
    route: 'POST /machine/licenses/terminate',
    may: WRITING,
    ids: { licenseInstanceId: bought('license', 'license_instance_not_found') },
    body: ({ licenseInstanceId }) => ({ licenseInstanceId }),
  },
  {
    route: 'GET /machine/licenses/terminations/:terminationId/status',
    may: READING,
    ids: { terminationId: bought('termination', 'termination_not_found') },
  },
  {
    route: 'POST /machine/licenses/terminations/:terminationId/resume',
    may: WRITING,
    ids: { terminationId: bought('termination', 'termination_not_found') },
    ends: 'termination_not_resumable',
  },
  {
    route: 'POST /platform/billing/sandbox-credit',
    may: people('ORG_OWNER', 'ORG_BILLING_MANAGER'),
    ids: { had: { kind: 'hadTestCredit', refuses: () => undefined, except: ['absent', 'malformed'] } },
    ends: 'sandbox_credit_granted',
  },
]
