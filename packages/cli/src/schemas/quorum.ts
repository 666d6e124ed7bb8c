import { Type } from 'typebox'

const quorums = Type.Object({ directory: Type.Integer(), recovery: Type.Integer() })

export const quorumShape = Type.Union([
  Type.Object({
    state: Type.Literal('set'),
    directory: Type.Integer({ description: 'How many sign a policy, or what a key may do' }),
    recovery: Type.Integer({ description: 'How many sign a recovery' }),
    policyVersion: Type.Integer(),
    entry: Type.Integer({ description: 'Of the policy in the log' }),
    isConfirmed: Type.Boolean({ description: 'False where a compromised key signed the policy last' }),
  }),
  Type.Object({
    state: Type.Literal('signed'),
    from: quorums,
    to: quorums,
    anew: Type.Union([Type.Null(), Type.Object({}, { additionalProperties: true })], {
      description: 'The whole policy, where a compromised key signed the one in force',
    }),
    signatures: Type.Integer(),
    needed: Type.Integer(),
    administrators: Type.Integer({ description: 'How many could sign' }),
    file: Type.String({ description: 'The statement, for others to sign or to send' }),
  }),
])
