import type { Envelope } from '@strongroom/protocol'
import { type Static, type TEnum, type TObject, type TProperties, type TSchema, Type } from 'typebox'

// Shapes that several nouns share. Objects are closed: a member too many is refused like a member too few.

export const closed = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: false })

export const Id = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' })
const WITHIN_YEAR = '-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]+)?'
const INNER_YEARS = '(?:197[1-9]|19[89][0-9]|[2-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])'
/**
 * A moment that clocks and databases know: without leap seconds and the name of a zone, which `date-time` alone would take. In the first
 * and the last year only in UTC, so that whatever is taken has a year of four digits in UTC, too.
 */
export const Moment = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: `^(?:${INNER_YEARS}${WITHIN_YEAR}(?:[Zz]|[+-][0-9]{2}:[0-9]{2})|(?:1970|9999)${WITHIN_YEAR}[Zz])$`,
    description,
  })
export const Time = Moment('ISO 8601, UTC')
/** One line of text a person reads: no control characters. */
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]+$' })
export const Text = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$' })
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const OneOf = <const T extends readonly string[]>(values: T): TEnum<[...T]> => Type.Enum<[...T]>([...values])

export const Page = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
}
/** Of a list that is never cut into pages: taken, and of no effect. */
export const NoPage = {
  page: Type.Optional(Type.String({ maxLength: 20, description: 'Of no effect: the list is always whole' })),
  limit: Type.Optional(Type.String({ maxLength: 20, description: 'Of no effect: the list is always whole' })),
}
export const Meta = closed({
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalPages: Type.Integer(),
})
export type Meta = Static<typeof Meta>

/** A list under its key: all rows without `meta`, or one page with it. */
export const listOf = <K extends string, T extends TSchema>(key: K, row: T) =>
  Type.Object(
    { [key]: Type.Array(row), meta: Type.Optional(Meta) } as { [P in K]: ReturnType<typeof Type.Array<T>> } & {
      meta: ReturnType<typeof Type.Optional<typeof Meta>>
    },
    { additionalProperties: false },
  )

/** Letters, digits and signs of ASCII. Anything else cannot be meant, and a database does not keep all of it. */
const Visible = (maxLength: number) => Type.String({ maxLength, pattern: '^[!-~]*$' })

/** A signed document as it travels (docs/reference/protocol.md 2.3). Its content is checked by the protocol, not by this shape. */
export const SignedDocument = Type.Unsafe<Envelope>(
  closed({
    payload: Type.String({ maxLength: 1_400_000 }),
    payloadType: Visible(128),
    signatures: Type.Array(closed({ keyid: Visible(128), sig: Visible(1024) }), { maxItems: 8 }),
  }),
)
