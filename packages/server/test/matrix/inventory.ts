import diagnostics from 'node:diagnostics_channel'
import { API_PREFIX, api, describeApi, type Route, type Routes } from '@strongroom/contract'
import type { FastifyInstance } from 'fastify'
import { type Harness, startHarness } from '../harness.ts'

// The routes of the server as its router has them, and what the contract says of them.

const FASTIFY = 'fastify.initialization'

/** A server, and every route that was registered on it, as `METHOD path`. */
export async function startWithRoutes(): Promise<{ readonly h: Harness; readonly routes: readonly string[] }> {
  const routes: string[] = []
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push(`${one} ${url}`)
    })
  }
  diagnostics.subscribe(FASTIFY, watch)
  try {
    const h = await startHarness()
    return { h, routes: [...routes] }
  } finally {
    diagnostics.unsubscribe(FASTIFY, watch)
  }
}

/** Every operation of the OpenAPI document, as `METHOD path`. */
export function documentedRoutes(): string[] {
  const { paths } = describeApi(api, '0') as { paths: Record<string, Record<string, object>> }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
}

const CONTRACT: ReadonlyMap<string, Route> = new Map(
  Object.values(api)
    .flatMap((group: Routes): Route[] => Object.values(group))
    .map((route) => [`${route.method} ${API_PREFIX[route.api]}${route.path}`, route]),
)

/** The contract of a row of the oracle, for the shape of its answers. */
export function contractOf(row: string): Route {
  const [method, path] = row.split(' ')
  const route = CONTRACT.get(`${method} /api/v1${path}`)
  if (!route) throw new Error(`the contract has no ${row}`)
  return route
}
