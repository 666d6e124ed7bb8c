import { claimedKind, type Envelope, type KeyBundle, orgGenesis, peekDocument, policySet } from '@strongroom/protocol'
import { ensureWritable, foundVault } from '../../access/vaults.ts'
import { type Ctx, transact } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { makeRecent, type Recent } from '../../db/recent.ts'
import { ApiError } from '../../errors.ts'
import { provisioningKey } from '../../licenses/sealer.ts'
import { keyIn } from '../../log/signers.ts'
import { readinessOf } from '../billing/readiness.ts'
import type { Documents, Facts } from './begin-store.ts'

// Who may buy. It is worse to find out afterwards that somebody cannot take what they have bought.

export interface Buyer {
  readonly documents: Documents
  readonly recipientKid: string
  readonly recipientKey: KeyBundle
}

export type VaultMode = 'new' | 'existing'

const MOST_KNOWN = 10_000
const knownOf = new WeakMap<Database, Recent<Buyer>>()

function knownIn(database: Database): Recent<Buyer> {
  const known = knownOf.get(database) ?? makeRecent<Buyer>(MOST_KNOWN)
  knownOf.set(database, known)
  return known
}

const nameOf = ({ principal }: Ctx, mode: VaultMode): string => `${principal.orgId} ${principal.id} ${mode}`

/** As it was decided last, and is as long as the documents are the same. */
export const knownBuyer = (ctx: Ctx, mode: VaultMode): Buyer | undefined => knownIn(ctx.database).get(nameOf(ctx, mode))

/** Whose hand-offs the organisation takes. */
function provisionersIn(policy: Envelope | null): readonly string[] {
  if (!policy) return []
  return claimedKind(policy) === 'org.genesis'
    ? peekDocument(orgGenesis, policy).payload.policy.provisioners
    : peekDocument(policySet, policy).payload.policy.provisioners
}

/** By name: whoever reads it elsewhere, in the log of a program, knows whose key to see to. */
export const keyMissing = ({ principal: { id: principal, name } }: Pick<Ctx, 'principal'>): ApiError =>
  new ApiError('recipient_key_missing', { details: { principal, name } })

/** Refuses where something is missing: first of the vault, which must be one that the buyer may write to, then of the buyer. */
export async function decideBuyer(ctx: Ctx, mode: VaultMode, facts: Facts): Promise<Buyer> {
  const { isTenantActive, documents, record, policy, vault } = facts
  if (mode === 'existing') ensureWritable(foundVault(vault ?? undefined))
  if (!isTenantActive) {
    const checks = await transact({ ...ctx, idempotent: undefined }, readinessOf)
    throw new ApiError('billing_not_ready', { details: { checks } })
  }
  if (documents.kid === null || record === null) throw keyMissing(ctx)
  const provisioner = (await provisioningKey(ctx)).key.principal
  if (!provisionersIn(policy).includes(provisioner))
    throw new ApiError('provisioner_not_named', { details: { provisioner } })
  const { bundle } = keyIn(record, documents.kid)
  // An RSA-only key holds no authority over a vault, so it can make none.
  if (mode === 'new' && bundle.sigAlg !== 'EdDSA') throw new ApiError('vault_destination_invalid')
  const buyer: Buyer = { documents, recipientKid: documents.kid, recipientKey: bundle }
  knownIn(ctx.database).set(nameOf(ctx, mode), buyer)
  return buyer
}
