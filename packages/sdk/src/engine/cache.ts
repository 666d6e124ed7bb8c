// What was verified, kept for when the server cannot be reached: ciphertexts and proofs, never a value or a key in the open. It is
// verified again whenever it is read.

/** A place for bytes under a name. */
export interface CacheStore {
  get(key: string): Promise<Uint8Array | undefined>
  set(key: string, bytes: Uint8Array): Promise<void>
  delete(key: string): Promise<void>
}

/** A cache that ends with the process. */
export function memoryCache(): CacheStore {
  const kept = new Map<string, Uint8Array>()
  return {
    get: async (key) => kept.get(key)?.slice(),
    set: async (key, bytes) => {
      kept.set(key, bytes.slice())
    },
    delete: async (key) => {
      kept.delete(key)
    },
  }
}

export interface CachedAnswer {
  readonly fetchedAt: number
  /** As the server gave it; as little to be trusted as an answer from the network. */
  readonly answer: unknown
}

const VERSION = 1
export const cacheKey = (org: string, vaultId: string, kid: string): string => `environment/${org}/${vaultId}/${kid}`

/** A cache that fails costs a later offline read, never this one. */
export async function putAnswer(cache: CacheStore | undefined, key: string, entry: CachedAnswer): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify({ version: VERSION, ...entry }))
  await cache?.set(key, bytes).catch(() => undefined)
}

/** Undefined where nothing is kept, or nothing that this version has written. */
export async function getAnswer(cache: CacheStore | undefined, key: string): Promise<CachedAnswer | undefined> {
  const bytes = await cache?.get(key).catch(() => undefined)
  if (!bytes) return undefined
  try {
    const { version, fetchedAt, answer } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as {
      version?: unknown
      fetchedAt?: unknown
      answer?: unknown
    }
    if (version !== VERSION || typeof fetchedAt !== 'number' || !Number.isSafeInteger(fetchedAt)) return undefined
    return { fetchedAt, answer }
  } catch {
    return undefined
  }
}
