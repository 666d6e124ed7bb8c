import { toHex } from '../../src/encoding/bytes.ts'
import {
  type HandoffExpectation,
  type HandoffLabel,
  handoffSchemaHash,
  openHandoff,
  verifyHandoff,
} from '../../src/wraps/handoff.ts'
import { identityFor, type KeyReference, type Operations } from './vectors-notation.ts'

// Section 6.5.

interface OpenInput {
  readonly recipient: KeyReference
  readonly provisioner: { readonly kid: string; readonly key: unknown }
  readonly expected: HandoffExpectation
  readonly envelope: unknown
}

export const handoffOperations: Operations = {
  schema: ({ fields }: { fields: readonly HandoffLabel[] }) => ({ hash: handoffSchemaHash(fields) }),
  open: async ({ recipient, provisioner, expected, envelope }: OpenInput) => {
    const reader = await identityFor(recipient)
    const verified = await verifyHandoff(envelope, provisioner, expected, reader)
    const fields = await openHandoff(verified, reader)
    return {
      hash: verified.hash,
      fields: fields.map(({ label, env, value }) => ({ label, env, type: value.type, value: toHex(value.value) })),
    }
  },
}
