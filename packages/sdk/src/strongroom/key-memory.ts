import { keyMemory } from '@strongroom/protocol'
import type { OpenKeys } from './options.ts'

/** What the keys have computed is kept beside what they open. A cache that fails costs time. */
export const openWithMemory: OpenKeys = async (cache, principal, pem, material) => {
  const { name, open } = keyMemory(principal, pem, material)
  const key = `key-memory/${name}`
  const kept = await cache.get(key).catch(() => undefined)
  return open(kept, (sealed) => cache.set(key, sealed).catch(() => undefined))
}
