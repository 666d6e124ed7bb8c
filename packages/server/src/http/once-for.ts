import type { Route } from '@strongroom/contract'

/** What is made of a route: when it is first needed, and once in a process. To make all of it at once was a quarter of a server's start. */
export function onceFor<T>(make: (route: Route) => T): (route: Route) => T {
  const made = new WeakMap<Route, { readonly it: T }>()
  return (route) => {
    const known = made.get(route) ?? { it: make(route) }
    made.set(route, known)
    return known.it
  }
}
