import { EMPTY_TRUST_STORE, parseTrustStore, serialiseTrustStore, type TrustStore } from '@strongroom/protocol'
import type { TrustKeeper } from './trust.ts'

// The trust store of a browser. A transaction of IndexedDB ends when something else is awaited, so a change is computed outside
// and stored by compare-and-set in one transaction: another tab that was quicker makes the change run again.

const TABLE = 'trust'
const KEY = 'store'
const MAX_TRIES = 50

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

async function openDatabase(name: string): Promise<IDBDatabase> {
  if (typeof indexedDB === 'undefined') throw new Error('there is no IndexedDB here to keep the trust store in')
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE)
  return done(request)
}

export function indexedDbTrust(name = 'strongroom-trust'): TrustKeeper {
  let opening: Promise<IDBDatabase> | undefined
  const database = (): Promise<IDBDatabase> => {
    opening ??= openDatabase(name)
    // A database that could not be opened is tried again next time.
    opening.catch(() => {
      opening = undefined
    })
    return opening
  }
  const readText = async (): Promise<string | undefined> =>
    done((await database()).transaction(TABLE).objectStore(TABLE).get(KEY) as IDBRequest<string | undefined>)
  return {
    read: async () => parse(await readText()),
    update: async (change) => {
      for (let tries = 1; ; tries += 1) {
        const before = await readText()
        const store = parse(before)
        const next = await change(store)
        if (next === store) return store
        if (await compareAndSet(await database(), before, serialiseTrustStore(next))) return next
        if (tries >= MAX_TRIES) throw new Error('the trust store is changed by others all the time')
      }
    },
  }
}

const parse = (text: string | undefined): TrustStore => (text === undefined ? EMPTY_TRUST_STORE : parseTrustStore(text))

/** False if the stored text is no longer `before`. Resolves when the transaction is on disk. */
function compareAndSet(database: IDBDatabase, before: string | undefined, next: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(TABLE, 'readwrite', { durability: 'strict' })
    const table = transaction.objectStore(TABLE)
    let isStored = false
    const current: IDBRequest<string | undefined> = table.get(KEY)
    current.onsuccess = () => {
      if (current.result !== before) return
      table.put(next, KEY)
      isStored = true
    }
    transaction.oncomplete = () => resolve(isStored)
    transaction.onabort = () => reject(transaction.error)
    transaction.onerror = () => reject(transaction.error)
  })
}
