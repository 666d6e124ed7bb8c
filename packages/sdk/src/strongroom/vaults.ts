import type { Unsound } from '../engine/attest.ts'
import type { Signer } from '../engine/vaults.ts'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { verifiedVault } from './names.ts'
import type { Receipt } from './receipt.ts'

export type { Unsound }

export type Classification = 'public' | 'internal' | 'confidential' | 'restricted'
export type AccessRole = 'READ' | 'WRITE' | 'ADMIN'

export interface Vault {
  readonly vaultId: string
  readonly name: string
  readonly classification: Classification
  readonly status: 'active' | 'archived'
  /** The caller's own. */
  readonly role: AccessRole | null
  readonly itemCount: number
  readonly headVersion: number
  /** Since when a former reader still holds the key; null if nobody does. */
  readonly rotationDue: Date | null
  /** Older versions of its key that values may still be under; absent in lists. `reencrypt` ends them. */
  readonly olderKeys?: readonly number[]
  /** What proves it; absent in lists, where the server's word stands alone. */
  readonly receipt?: Receipt
}

export interface KeyHolder {
  readonly principal: string
  readonly kind: 'user' | 'agent'
  /** As the server calls it. */
  readonly name: string
  /** From the signed access list. */
  readonly role: AccessRole
  readonly keyIds: readonly string[]
}

export interface NewVault {
  readonly name: string
  readonly classification?: Classification
  /** Others who get the key at once. */
  readonly access?: readonly { readonly principal: string; readonly role: AccessRole }[]
}

export interface SyncedVault {
  readonly vaultId: string
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly headVersion: number
  /** Active items by id. */
  readonly items: ReadonlyMap<string, { readonly name: string; readonly version: number }>
}

export interface SyncPayload {
  /** For the next call. */
  readonly cursor: string
  /** True: forget every vault that is not in this answer. */
  readonly isFull: boolean
  readonly removed: readonly string[]
  /** Those that changed, each verified as a whole. */
  readonly vaults: readonly SyncedVault[]
}

export interface RotateVaultKey {
  /** Said in the log; `scheduled` if absent. */
  readonly reason?: 'scheduled' | 'key-compromised' | 'member-removed'
  readonly onProgress?: (done: number, total: number) => void
}

export interface Vaults {
  /** As the server says it: what it says of one vault is verified by `get`. */
  list(options?: RequestOptions): ApiPromise<readonly Vault[]>
  /** By id or name, verified. */
  get(vault: string, options?: RequestOptions): ApiPromise<Vault>
  create(vault: NewVault, options?: RequestOptions): ApiPromise<Vault>
  update(
    vault: string,
    change: { readonly name?: string; readonly classification?: Classification },
    options?: RequestOptions,
  ): ApiPromise<Vault>
  archive(vault: string, options?: RequestOptions): ApiPromise<void>
  /** Makes an archived vault active again, as it was. */
  restore(vault: string, options?: RequestOptions): ApiPromise<Vault>
  /** Whose signatures count in it, and why. */
  signers(vault: string, options?: RequestOptions): ApiPromise<readonly Signer[]>
  /** Who can decrypt it. */
  holders(vault: string, options?: RequestOptions): ApiPromise<readonly KeyHolder[]>
  /** A new vault key for everybody on the access list, and everything encrypted anew under it. */
  rotateKey(
    vault: string,
    options?: RequestOptions & RotateVaultKey,
  ): ApiPromise<{ readonly items: number; readonly fields: number; readonly attachments: number }>
  /** Goes on where a rotation was cut off: what is still under older vault keys is encrypted anew, and those keys end. */
  reencrypt(
    vault: string,
    options?: RequestOptions & Pick<RotateVaultKey, 'onProgress'>,
  ): ApiPromise<{ readonly items: number; readonly fields: number; readonly attachments: number }>
  /** What of it was last signed by keys that were found to be compromised: it is refused to everybody until it is attested. */
  review(vault: string, options?: RequestOptions & Pick<RotateVaultKey, 'onProgress'>): ApiPromise<Unsound>
  /** Signs that anew, as it is, after somebody has looked at it; gives what was signed. What a review did not show is refused. */
  attest(reviewed: Unsound, options?: RequestOptions & Pick<RotateVaultKey, 'onProgress'>): ApiPromise<Unsound>
  /** What changed since a cursor, or everything. */
  sync(params?: { readonly since?: string }, options?: RequestOptions): ApiPromise<SyncPayload>
}

const reads = () => import('./vault-reads.ts')
const changes = () => import('./vault-changes.ts')

export function vaultsOf(core: Core): Vaults {
  return {
    list: (options) =>
      core.call(options, async ({ client, options: call }) =>
        (await client.vaults.list({}, call)).data.map((await reads()).listed),
      ),
    get: (vault, options) => core.keyed(options, async (place) => (await reads()).getVault(place, vault)),
    create: (vault, options) => core.keyed(options, async (place) => (await changes()).create(place, vault)),
    update: (vault, change, options) =>
      core.keyed(options, async (place) => (await changes()).update(place, vault, change)),
    archive: (vault, options) => core.keyed(options, async (place) => (await changes()).archive(place, vault)),
    restore: (vault, options) => core.keyed(options, async (place) => (await changes()).restore(place, vault)),
    signers: (vault, options) => core.keyed(options, async (place) => (await verifiedVault(place, vault)).signers),
    holders: (vault, options) => core.keyed(options, async (place) => (await reads()).holdersOf(place, vault)),
    rotateKey: (vault, options) =>
      core.keyed(options, async (place) => (await changes()).rotateKey(place, vault, options)),
    reencrypt: (vault, options) =>
      core.keyed(options, async (place) => (await changes()).reencryptAll(place, vault, options)),
    review: (vault, options) => core.keyed(options, async (place) => (await changes()).review(place, vault, options)),
    attest: (reviewed, options) =>
      core.keyed(options, async (place) => (await changes()).attest(place, reviewed, options)),
    sync: ({ since } = {}, options) => core.keyed(options, async (place) => (await changes()).sync(place, since)),
  }
}
