import { readFileSync, writeFileSync } from 'node:fs'
import type { Recorded } from './attack.ts'

// Honest answers that passed: what a server that goes back, or mixes things up, has to draw from.

/** What is larger is not kept. */
export const MAX_RECORDED_BYTES = 16_777_216
const MOST = 2000

export interface Records {
  add(recorded: Recorded): void
  of(route: string): readonly Recorded[]
  save(path: string): void
}

/** Names of a route's places where the path has them. */
export function paramsOf(route: string, method: string, path: string): Record<string, string> | undefined {
  const [routeMethod, pattern = ''] = route.split(' ')
  if (routeMethod !== method) return undefined
  const [asked = ''] = path.split('?')
  const [places, parts] = [pattern.split('/'), asked.split('/')]
  if (places.length !== parts.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, place] of places.entries()) {
    const part = decodeURIComponent(parts[i] ?? '')
    if (place.startsWith(':')) params[place.slice(1)] = part
    else if (place !== part) return undefined
  }
  return params
}

export function makeRecords(from?: string): Records {
  const kept: Recorded[] = from === undefined ? [] : (JSON.parse(readFileSync(from, 'utf8')) as Recorded[])
  const seen = new Set(kept.map(({ body }) => JSON.stringify(body)))
  return {
    add: (recorded) => {
      const text = JSON.stringify(recorded.body)
      if (seen.has(text) || text.length > MAX_RECORDED_BYTES || kept.length >= MOST) return
      seen.add(text)
      kept.push(recorded)
    },
    of: (route) => kept.filter(({ method, path }) => paramsOf(route, method, path) !== undefined),
    save: (path) => writeFileSync(path, JSON.stringify(kept), { mode: 0o600 }),
  }
}
