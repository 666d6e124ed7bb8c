import type { Route, Routes } from './route.ts'

/** Every call by its name, such as `vaults.list`. */
export const callsOf = (groups: Readonly<Record<string, Routes>>): ReadonlyMap<string, Route> =>
  new Map(
    Object.entries(groups).flatMap(([group, calls]) =>
      Object.entries(calls).map(([name, route]): [string, Route] => [`${group}.${name}`, route]),
    ),
  )
