import type { transparency } from '@strongroom/contract'
import {
  encodeProof,
  kidName,
  nodesForInclusion,
  orgGenesis,
  POLICY_NAME,
  type PolicyState,
  peekCheckpoint,
  peekDocument,
  policySet,
  proveInclusionFrom,
} from '@strongroom/protocol'
import { type TxCtx, transact } from '../../context.ts'
import { found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { readMaterial } from '../../log/log-store.ts'
import { readSigned } from '../../log/signers.ts'
import { readDocument, readState } from '../../log/state-store.ts'
import { transparencyOf } from '../../log/transparency.ts'
import * as store from './store.ts'

// Section 9.4 of docs/reference/protocol.md: what a client asks for when the log is not the one it has seen, and an administrator before
// the statement is made.

async function policyState({ db, principal }: TxCtx): Promise<PolicyState> {
  const state = await readState(db, principal.orgId, POLICY_NAME)
  return found(state, 'leaf_not_found') as PolicyState
}

async function recoverQuorum({ db, principal }: TxCtx, { policyHash }: PolicyState): Promise<number> {
  const { kind, envelope } = found(await readDocument(db, principal.orgId, policyHash), 'leaf_not_found')
  const { payload } = kind === 'org.genesis' ? peekDocument(orgGenesis, envelope) : peekDocument(policySet, envelope)
  return payload.policy.recoverQuorum
}

export const recovery: Handler<typeof transparency.recovery> = (ctx) =>
  transact(
    ctx,
    async (ctx) => {
      const { restoredAt, note } = found(await store.restoredLog(ctx.db, ctx.principal.orgId), 'leaf_not_found')
      const policy = await policyState(ctx)
      const recoveries = [...(policy.recoveries ?? [])]
      if (!restoredAt) return { restored: null, recoveries }
      const { size: keptSize, root } = peekCheckpoint(note)
      const kept = { keptSize, keptRoot: Buffer.from(root).toString('base64url') }
      const at = restoredAt.toISOString()
      return { restored: { at, ...kept, recoverQuorum: await recoverQuorum(ctx, policy) }, recoveries }
    },
    { atOneMoment: true },
  )

export const recoveryStatement: Handler<typeof transparency.recoveryStatement> = (ctx, { params: { index } }) =>
  transact(
    ctx,
    async (ctx) => {
      const { db, principal } = ctx
      const { orgId } = principal
      const stated = (await policyState(ctx)).recoveries?.find((one) => one.index === index)
      const { docHash } = found(stated, 'recovery_not_found')
      const signed = await readSigned(db, orgId, [docHash])
      const { genesis, policies, records, capSets } = signed
      const statement = found(signed.documents.get(docHash), 'recovery_not_found')
      const kids = statement.signatures.map(({ keyid }) => kidName(keyid))
      // What is kept has as many leaves as the index says: from there the log goes on.
      const current = await transparencyOf(db, orgId, [POLICY_NAME, ...signed.names, ...kids], index)
      const { size } = peekCheckpoint(current.checkpoint)
      const { node, leaf } = await readMaterial(db, orgId, nodesForInclusion(index, size), index)
      return {
        statement,
        inclusion: {
          leaf: leaf.toString('base64'),
          hashes: [...encodeProof(proveInclusionFrom(node, index, size))],
        },
        genesis,
        policies: [...policies],
        records: [...records],
        capSets: [...capSets],
        transparency: current,
      }
    },
    { atOneMoment: true },
  )
