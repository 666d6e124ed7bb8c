import type pg from 'pg'

// A statement with a name is parsed once per connection instead of each time, and may keep its plan. Which ones come again is
// seen here: texts that hold a list of any length are ever new ones, and those must not fill the memory of every connection.

const TIMES_SEEN = 3
const MAX_NAMED = 300
const MAX_SEEN = 2000

/** Gives the name of a statement that keeps coming; undefined for any other. */
export function makeNames(): (text: string) => string | undefined {
  const named = new Map<string, string>()
  const seen = new Map<string, number>()
  return (text) => {
    const known = named.get(text)
    if (known !== undefined || named.size >= MAX_NAMED) return known
    const times = (seen.get(text) ?? 0) + 1
    if (times < TIMES_SEEN) {
      if (seen.size >= MAX_SEEN) seen.clear()
      seen.set(text, times)
      return undefined
    }
    seen.delete(text)
    const name = `s${named.size}`
    named.set(text, name)
    return name
  }
}

type Query = (config: unknown, values?: unknown, callback?: unknown) => unknown

/** From now on this connection names what it is asked again and again. Statements without parameters stay as they are. */
export function nameStatements(client: pg.PoolClient, nameOf: (text: string) => string | undefined): void {
  const query = client.query.bind(client) as Query
  const named: Query = (config, values, callback) => {
    const hasValues = typeof config === 'string' && Array.isArray(values) && values.length > 0
    const name = hasValues ? nameOf(config) : undefined
    return name === undefined ? query(config, values, callback) : query({ name, text: config, values }, callback)
  }
  client.query = named as typeof client.query
}
