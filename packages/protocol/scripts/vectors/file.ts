import type { ProtocolErrorCode } from '../../src/errors.ts'

// The form of a file of vectors: described in vectors/README.md, one line per case, so that a change is seen in a diff.

export interface VectorCase {
  readonly name: string
  readonly op: string
  readonly input: unknown
  /** What the operation gives; absent where it refuses. */
  readonly result?: unknown
  /** The code of the refusal. */
  readonly code?: ProtocolErrorCode
}

export interface VectorFile {
  readonly vectors: string
  /** Of docs/reference/protocol.md. */
  readonly section: string
  readonly comment: string
  /** What several cases share. */
  readonly given?: Readonly<Record<string, unknown>>
  readonly cases: readonly VectorCase[]
}

export const accepts = (op: string, name: string, input: unknown, result: unknown): VectorCase => ({
  name,
  op,
  input,
  result,
})

export const refuses = (op: string, name: string, code: ProtocolErrorCode, input: unknown): VectorCase => ({
  name,
  op,
  input,
  code,
})

/** Members in the order of their names: the order in which an object came to be must not show. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

const line = (value: unknown): string => JSON.stringify(sorted(value))

const caseLine = ({ name, op, input, result, code }: VectorCase): string =>
  JSON.stringify({ name, op, input: sorted(input), result: sorted(result), code })

function givenLines(given: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(given).map(([name, value]) => {
    if (typeof value !== 'object' || value === null) return `  ${line(name)}: ${line(value)}`
    const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
    const entries = Array.isArray(value)
      ? value.map((entry) => `   ${line(entry)}`)
      : Object.entries(value).map(([key, entry]) => `   ${line(key)}: ${line(entry)}`)
    return `  ${line(name)}: ${open}\n${entries.join(',\n')}\n  ${close}`
  })
  return ` "given": {\n${members.join(',\n')}\n },\n`
}

/** The one text of a file. Refuses names that occur twice: a failing case must be found by its name. */
export function serialise({ vectors, section, comment, given, cases }: VectorFile): string {
  const names = cases.map(({ op, name }) => `${op} ${name}`)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new Error(`${vectors}.json has two cases called ${twice}`)
  const head = ` "vectors": ${line(vectors)},\n "section": ${line(section)},\n "comment": ${line(comment)},\n`
  const body = cases.map((one) => `  ${caseLine(one)}`).join(',\n')
  return `{\n${head}${given ? givenLines(given) : ''} "cases": [\n${body}\n ]\n}\n`
}
