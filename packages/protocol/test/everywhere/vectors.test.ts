import { describe, expect, it } from 'vitest'
import { PROTOCOL_ERRORS } from '../../src/error-codes.ts'
import { ProtocolError } from '../../src/errors.ts'
import acl from '../../vectors/acl.json' with { type: 'json' }
import asset from '../../vectors/asset.json' with { type: 'json' }
import audit from '../../vectors/audit.json' with { type: 'json' }
import capsSet from '../../vectors/caps-set.json' with { type: 'json' }
import checkpoint from '../../vectors/checkpoint.json' with { type: 'json' }
import codes from '../../vectors/codes.json' with { type: 'json' }
import dekCommit from '../../vectors/dek-commit.json' with { type: 'json' }
import detail from '../../vectors/detail.json' with { type: 'json' }
import dsse from '../../vectors/dsse.json' with { type: 'json' }
import ed25519 from '../../vectors/ed25519.json' with { type: 'json' }
import field from '../../vectors/field.json' with { type: 'json' }
import genesis from '../../vectors/genesis.json' with { type: 'json' }
import handoff from '../../vectors/handoff.json' with { type: 'json' }
import head from '../../vectors/head.json' with { type: 'json' }
import hybridWrap from '../../vectors/hybrid-wrap.json' with { type: 'json' }
import invite from '../../vectors/invite.json' with { type: 'json' }
import itemKey from '../../vectors/item-key.json' with { type: 'json' }
import jcsStrict from '../../vectors/jcs-strict.json' with { type: 'json' }
import kdfFloor from '../../vectors/kdf-floor.json' with { type: 'json' }
import keyAdd from '../../vectors/key-add.json' with { type: 'json' }
import keyRecover from '../../vectors/key-recover.json' with { type: 'json' }
import keyRevoke from '../../vectors/key-revoke.json' with { type: 'json' }
import keyRotate from '../../vectors/key-rotate.json' with { type: 'json' }
import keyid from '../../vectors/keyid.json' with { type: 'json' }
import leaf from '../../vectors/leaf.json' with { type: 'json' }
import log from '../../vectors/log.json' with { type: 'json' }
import logRecover from '../../vectors/log-recover.json' with { type: 'json' }
import lp from '../../vectors/lp.json' with { type: 'json' }
import map from '../../vectors/map.json' with { type: 'json' }
import padding from '../../vectors/padding.json' with { type: 'json' }
import policySet from '../../vectors/policy-set.json' with { type: 'json' }
import project from '../../vectors/project.json' with { type: 'json' }
import projectBundle from '../../vectors/project-bundle.json' with { type: 'json' }
import readBundle from '../../vectors/read-bundle.json' with { type: 'json' }
import recoverySeal from '../../vectors/recovery-seal.json' with { type: 'json' }
import trustAnchor from '../../vectors/trust-anchor.json' with { type: 'json' }
import trustStore from '../../vectors/trust-store.json' with { type: 'json' }
import userBundle from '../../vectors/user-bundle.json' with { type: 'json' }
import witnessPolicy from '../../vectors/witness-policy.json' with { type: 'json' }
import wrap from '../../vectors/wrap.json' with { type: 'json' }
import { assetOperations } from './vectors-asset.ts'
import { handoffOperations } from './vectors-handoff.ts'
import { dsseOperations, ed25519Operations, keyIdOperations, wrapOperations } from './vectors-identity.ts'
import { ledgerOperations } from './vectors-ledger.ts'
import {
  checkpointOperations,
  leafOperations,
  logOperations,
  mapOperations,
  witnessPolicyOperations,
} from './vectors-log.ts'
import type { Operations } from './vectors-notation.ts'
import { detailOperations, projectOperations, readOperations, trustStoreOperations } from './vectors-read.ts'
import {
  anchorOperations,
  codeOperations,
  inviteOperations,
  kdfOperations,
  recoverySealOperations,
  userBundleOperations,
} from './vectors-user.ts'
import {
  dekOperations,
  fieldOperations,
  itemKeyOperations,
  jcsOperations,
  lpOperations,
  paddingOperations,
} from './vectors-values.ts'

// The published vectors, through the package's own functions, on every platform.
// Seen red, each in the files of its section and the whole answers above it: strict parse without its comparison; a bad
// signature, a missing author, another document hash let pass; torsion, ROCA and padding unchecked; the label of the
// commitment, the flag in the field's associated data, `by` in the wrap, the KEM key in the hybrid KDF changed; a map leaf
// where its key does not lead, size 01, any key id, a clock ahead, 129 updates inline; a self-endorsed key, an incomplete
// batch, a console in upper case, other admins shown, another state root; a head by a reader, an admin nobody made, one
// label twice; the final flag of FLOE, the version in the wrap of a content key; the checksum constant, two passes,
// another kid, another invite; a new key without continuity; and in Chromium alone: R = identity taken as a signature.

interface Case {
  readonly name: string
  readonly op: string
  readonly input: unknown
  readonly result?: unknown
  readonly code?: string
}
interface Vectors {
  readonly vectors: string
  readonly section: string
  readonly given?: unknown
  readonly cases: readonly Case[]
}

const FILES: readonly (readonly [file: unknown, operations: Operations])[] = [
  [lp, lpOperations],
  [jcsStrict, jcsOperations],
  [dsse, dsseOperations],
  [keyid, keyIdOperations],
  [ed25519, ed25519Operations],
  [padding, paddingOperations],
  [dekCommit, dekOperations],
  [itemKey, itemKeyOperations],
  [field, fieldOperations],
  [wrap, wrapOperations],
  [hybridWrap, wrapOperations],
  [genesis, ledgerOperations],
  [keyAdd, ledgerOperations],
  [keyRotate, ledgerOperations],
  [keyRecover, ledgerOperations],
  [keyRevoke, ledgerOperations],
  [capsSet, ledgerOperations],
  [policySet, ledgerOperations],
  [logRecover, ledgerOperations],
  [invite, inviteOperations],
  [acl, ledgerOperations],
  [project, ledgerOperations],
  [map, mapOperations],
  [log, logOperations],
  [leaf, leafOperations],
  [checkpoint, checkpointOperations],
  [witnessPolicy, witnessPolicyOperations],
  [audit, ledgerOperations],
  [head, ledgerOperations],
  [detail, detailOperations],
  [readBundle, readOperations],
  [projectBundle, projectOperations],
  [handoff, handoffOperations],
  [asset, assetOperations],
  [codes, codeOperations],
  [kdfFloor, kdfOperations],
  [userBundle, userBundleOperations],
  [recoverySeal, recoverySealOperations],
  [trustAnchor, anchorOperations],
  [trustStore, trustStoreOperations],
]
const files = FILES.map(([file, operations]) => ({ ...(file as Vectors), operations }))

/** What happened, in the words of a case. An error that is not of the protocol flies on and fails the test. */
async function outcomeOf(operations: Operations, { op, input }: Case, given: unknown): Promise<object> {
  const operation = operations[op]
  if (!operation) throw new Error(`no operation is called ${op}`)
  try {
    return { result: await operation(input as never, given as never) }
  } catch (error) {
    if (error instanceof ProtocolError) return { code: error.code }
    throw error
  }
}

describe('the published vectors', () => {
  it.each(files.map((file) => [`${file.vectors}.json`, file] as const))(
    '%s: each valid case gives exactly the stated result, each other is refused with the stated code',
    async (_, { cases, given, operations }) => {
      const found: object[] = []
      for (const one of cases) found.push({ op: one.op, name: one.name, ...(await outcomeOf(operations, one, given)) })
      const stated = cases.map(({ op, name, result, code }) => ({ op, name, ...(code ? { code } : { result }) }))
      expect(found).toStrictEqual(stated)
    },
    60_000,
  )

  it('have both valid and invalid cases in every file, but for a derivation that cannot refuse', () => {
    for (const { vectors, cases } of files) {
      const invalid = cases.filter(({ code }) => code !== undefined)
      expect(
        invalid.every(({ code, result }) => Object.hasOwn(PROTOCOL_ERRORS, code as string) && result === undefined),
      ).toBe(true)
      expect(cases.length - invalid.length, vectors).toBeGreaterThan(0)
      if (vectors !== 'item-key') expect(invalid.length, vectors).toBeGreaterThan(0)
    }
  })

  it('are 40 files with more than 2000 cases, every one of which ran above', () => {
    expect(new Set(files.map(({ vectors }) => vectors)).size).toBe(40)
    expect(files.reduce((sum, { cases }) => sum + cases.length, 0)).toBeGreaterThan(2000)
  })
})
