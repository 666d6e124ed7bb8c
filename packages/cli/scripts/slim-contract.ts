import { API_PREFIX, api, ERRORS, MAX_PARTS, PART_BYTES, type Routes } from '@strongroom/contract'

/**
 * The contract as the client needs it: where each route is and what codes mean, without the shapes and the library they are made
 * with, which are twenty times as much.
 */
export function slimContract(): string {
  const groups: Readonly<Record<string, Routes>> = api
  const routes = Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [
      name,
      Object.fromEntries(
        Object.entries(group).map(([route, { api: which, method, path }]) => [route, { api: which, method, path }]),
      ),
    ]),
  )
  const codes = Object.fromEntries(
    Object.entries(ERRORS).map(([code, { status, message, hint }]) => [code, { status, message, hint }]),
  )
  const small = Object.entries({ API_PREFIX, MAX_PARTS, PART_BYTES })
  return [
    ...small.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`),
    lateTables({ ERRORS: codes, api: routes }),
  ].join('\n')
}

type Table = Readonly<Record<string, unknown>>

/** A module whose exports are data, with its tables made late. */
export const lateModule = (exported: Table): string => {
  const entries = Object.entries(exported)
  const isTable = ([, value]: readonly [string, unknown]): boolean =>
    Object.values(value as Table).every((member) => typeof member === 'object')
  return [
    ...entries
      .filter((entry) => !isTable(entry))
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`),
    lateTables(Object.fromEntries(entries.filter(isTable)) as Readonly<Record<string, Table>>),
  ].join('\n')
}

const lateTables = (tables: Readonly<Record<string, Table>>): string =>
  [
    LATE,
    ...Object.entries(tables).map(([name, table]) => `export const ${name} = late(() => ({${textsOf(table)}}))`),
  ].join('\n')

/** In functions, so that a start reads and keeps only the texts it asked for. */
const textsOf = (value: Readonly<Record<string, unknown>>): string =>
  Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: () => ${JSON.stringify(JSON.stringify(member))}`)
    .join(',')

/** A table whose members are parsed when they are first looked at; to list them or to ask for one that is not there parses none. */
const LATE = `const late = (write) => {
  let texts
  const all = () => (texts ??= write())
  const parsed = new Map()
  const member = (name) => {
    if (!parsed.has(name) && Object.hasOwn(all(), name)) parsed.set(name, JSON.parse(all()[name]()))
    return parsed.get(name)
  }
  return new Proxy({}, {
    get: (_, name) => member(name),
    has: (_, name) => Object.hasOwn(all(), name),
    ownKeys: () => Object.keys(all()),
    getOwnPropertyDescriptor: (_, name) =>
      Object.hasOwn(all(), name) ? { get: () => member(name), enumerable: true, configurable: true } : undefined,
  })
}`
