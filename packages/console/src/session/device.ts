// What this browser remembers of a person between two logins: who they are, which organisation was pinned, and the device secret,
// sealed under a key that WebCrypto keeps and no script can read. Neither passphrase nor private keys are ever stored.

const DATABASE = 'strongroom-console'
const STORE = 'device'

export interface Device {
  readonly email: string
  /** `SRD1-…` */
  readonly deviceSecret: string
  readonly trustAnchor: string
  /** Empty for whoever has joined and was never signed in here. */
  readonly lastKdf: string
  /** The words of their key until then: whoever confirms it asks for them. */
  readonly words?: string
}

interface Kept {
  readonly key: CryptoKey
  readonly iv: Uint8Array<ArrayBuffer>
  readonly sealed: ArrayBuffer
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await openDatabase()
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode)
      const request = work(transaction.objectStore(STORE))
      transaction.oncomplete = () => resolve(request.result)
      transaction.onerror = () => reject(transaction.error)
      // A disk that is full ends it without an error of its own.
      transaction.onabort = () => reject(transaction.error)
    })
  } finally {
    database.close()
  }
}

const ME = 'me'

async function store(device: Device): Promise<void> {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const text = new TextEncoder().encode(JSON.stringify(device))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, text)
  await inStore('readwrite', (store) => store.put({ key, iv, sealed } satisfies Kept, ME))
}

/** Where a browser keeps nothing, it asks for the device secret again; nobody loses for it what they are about to be shown, or stays outside. */
export const rememberDevice = (device: Device): Promise<void> => store(device).catch(() => undefined)

export async function knownDevice(): Promise<Device | undefined> {
  const kept = await inStore<Kept | undefined>('readonly', (store) => store.get(ME))
  if (!kept) return undefined
  try {
    const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: kept.iv }, kept.key, kept.sealed)
    return JSON.parse(new TextDecoder().decode(text)) as Device
  } catch {
    // What cannot be opened is as if it were not there: the person types the device secret again.
    return undefined
  }
}

export const forgetDevice = (): Promise<undefined> => inStore('readwrite', (store) => store.delete(ME))

/** Names this browser in the list of sessions; nothing secret. */
export function installationId(): string {
  const known = localStorage.getItem('installation')
  if (known) return known
  const made = `web${crypto.randomUUID().replaceAll('-', '')}`
  localStorage.setItem('installation', made)
  return made
}
