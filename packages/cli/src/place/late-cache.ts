import type { CacheStore } from '@strongroom/sdk'

export interface LateCache extends CacheStore {
  /** Writes what is new; what cannot be written costs a later process a request. */
  flush(): Promise<void>
}

/** A cache that is written when there is time: what was read now is for the next process, and this one has a command to start. */
export function lateCache(cache: CacheStore): LateCache {
  const waiting = new Map<string, Uint8Array | undefined>()
  return {
    get: async (key) => (waiting.has(key) ? waiting.get(key) : cache.get(key)),
    set: async (key, bytes) => {
      waiting.set(key, bytes)
    },
    delete: async (key) => {
      waiting.set(key, undefined)
    },
    flush: async () => {
      const all = [...waiting]
      waiting.clear()
      for (const [key, bytes] of all) await (bytes ? cache.set(key, bytes) : cache.delete(key)).catch(() => undefined)
    },
  }
}
