import { Type } from 'typebox'

const caps = Type.Array(Type.String(), { description: 'agent, agent-manager, dir-admin, member, recovery' })
const held = {
  keyId: Type.String(),
  caps,
  entry: Type.Integer({ description: 'The entry of the log that says so' }),
  isConfirmed: Type.Boolean({
    description: 'False where a compromised key vouched for it, or gave it its caps, and nobody has confirmed it since',
  }),
}

export const capsShape = Type.Union([
  Type.Object({ state: Type.Literal('shown'), keys: Type.Array(Type.Object(held)) }),
  Type.Object({ state: Type.Literal('set'), ...held }),
  Type.Object({
    state: Type.Literal('signed'),
    keyId: Type.String(),
    from: caps,
    to: caps,
    isConfirmed: Type.Boolean(),
    signatures: Type.Integer(),
    needed: Type.Integer(),
    file: Type.String({ description: 'The statement, for others to sign or to send' }),
  }),
])
