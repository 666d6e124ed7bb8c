import type { CacheStore } from './cache.ts'

// The ciphertext cache of a browser: what was read stays readable after a reload without the server, verified as ever. A
// database of its own, so that clearing the cache never touches the trust store.

const TABLE = 'answers'

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

export function indexedDbCache(name = 'strongroom-cache'): CacheStore {
  const within = async <T>(mode: IDBTransactionMode, work: (table: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    const opening = indexedDB.open(name, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE)
    const database = await done(opening)
    try {
      return await done(work(database.transaction(TABLE, mode).objectStore(TABLE)))
    } finally {
      database.close()
    }
  }
  return {
    get: (key) => within<Uint8Array | undefined>('readonly', (table) => table.get(key)),
    set: async (key, bytes) => {
      await within('readwrite', (table) => table.put(bytes, key))
    },
    delete: async (key) => {
      await within('readwrite', (table) => table.delete(key))
    },
  }
}
