import { Type } from 'typebox'
import { CliError } from '../../errors/cli-error.ts'
import { exportWish, generated, LONGEST_GENERATED, SHORTEST_GENERATED, storeValue } from '../../items/store-value.ts'
import { fieldPlace, referenceOf } from '../../place/reference.ts'
import { closed, tool } from '../tool.ts'

const LENGTH = 32

const isConflict = (error: unknown): boolean => (error as { name?: unknown } | undefined)?.name === 'ConflictError'

export const generateSecret = tool({
  name: 'generate_secret',
  title: 'Generate a secret',
  description:
    'Makes a random value on this machine, encrypts it here and writes it to vault/item/FIELD. The value is not returned, to nobody. Refuses where there is a value already, unless replace is true: what used the old one stops working.',
  input: closed({
    ref: Type.String({ description: 'sr://vault/item/FIELD', minLength: 1, maxLength: 1024 }),
    length: Type.Optional(Type.Integer({ minimum: SHORTEST_GENERATED, maximum: LONGEST_GENERATED, default: LENGTH })),
    replace: Type.Optional(Type.Boolean({ default: false })),
  }),
  output: closed({ ref: Type.String(), version: Type.Integer(), created: Type.Boolean(), length: Type.Integer() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  run: async (cli, { ref, length = LENGTH, replace = false }) => {
    const place = fieldPlace(ref)
    const strongroom = await cli.strongroom()
    const env = await exportWish(cli, strongroom, place)
    const ifVersion = replace ? undefined : 0
    const { version, created } = await storeValue(cli, strongroom, place, generated(length), { env, ifVersion }).catch(
      (cause: unknown) => {
        if (replace || !isConflict(cause)) throw cause
        throw new CliError('secret_exists', 'there is a value already, and it was left as it is', {
          fix: 'give another name, or replace: true if nothing uses the old value',
          cause,
        })
      },
    )
    return { ref: referenceOf(place), version, created, length }
  },
})
