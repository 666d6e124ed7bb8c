import { Type } from 'typebox'

export { accessShape } from './vault.ts'

const role = Type.Union([Type.Literal('READ'), Type.Literal('WRITE'), Type.Literal('ADMIN')])

export const explainShape = Type.Object({
  principal: Type.String(),
  name: Type.String(),
  vault: Type.String(),
  role: Type.Union([role, Type.Null()]),
  keyIds: Type.Array(Type.String()),
  canDecrypt: Type.Boolean(),
  canWrite: Type.Boolean(),
  canShare: Type.Boolean(),
})

const orNull = Type.Union([Type.String(), Type.Null()])
const moment = Type.Object({ index: Type.Integer(), at: Type.String() })
const exposed = { keyVersion: Type.Integer(), isExposed: Type.Boolean() }

export const exposureShape = Type.Object({
  subject: Type.String(),
  head: Type.Object({
    origin: Type.String(),
    treeSize: Type.Integer(),
    rootHash: Type.String(),
    timestamp: Type.String(),
  }),
  keys: Type.Array(
    Type.Object({
      keyId: Type.String(),
      status: Type.String(),
      added: moment,
      ended: Type.Union([moment, Type.Null()]),
    }),
  ),
  vaults: Type.Array(
    Type.Object({
      vaultId: Type.String(),
      name: orNull,
      keyVersion: Type.Integer(),
      knowsCurrentKey: Type.Boolean(),
      rotationDue: orNull,
      grants: Type.Array(
        Type.Object({
          keyId: Type.String(),
          keyVersion: Type.Integer(),
          from: moment,
          until: Type.Union([moment, Type.Null()]),
        }),
      ),
      items: Type.Union([
        Type.Array(
          Type.Object({
            itemId: Type.String(),
            name: Type.String(),
            status: Type.String(),
            changedAt: Type.String(),
            changedBy: Type.String(),
            fields: Type.Array(Type.Object({ fieldId: Type.String(), label: Type.String(), ...exposed })),
            attachments: Type.Array(Type.Object({ assetId: Type.String(), ...exposed })),
          }),
        ),
        Type.Null({ description: 'Somebody else’s vault: whoever can read it has to look' }),
      ]),
    }),
  ),
  limits: Type.Array(Type.String({ description: 'What no log can say' })),
})
