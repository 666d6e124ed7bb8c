import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core, KeyedPlace } from './core.ts'
import type { Receipt } from './receipt.ts'
import type { Secret } from './secret.ts'

export interface ItemSummary {
  readonly itemId: string
  readonly name: string
  readonly website: string
  readonly status: 'active' | 'archived'
  readonly version: number
  /** Of its environment fields. */
  readonly labels: readonly string[]
}

export interface Item extends Omit<ItemSummary, 'labels'> {
  readonly vaultId: string
  readonly fields: readonly {
    readonly fieldId: string
    readonly label: string
    readonly isEnvironmentVariable: boolean
    readonly secret: Secret
  }[]
  readonly receipt: Receipt
}

export interface NewField {
  readonly label: string
  readonly value: string | Uint8Array
  readonly isEnvironmentVariable?: boolean
}

export interface NewItem {
  readonly name: string
  readonly website?: string
  readonly fields: readonly NewField[]
}

export interface ItemChange {
  readonly name?: string
  readonly website?: string
  readonly add?: readonly NewField[]
  readonly edit?: readonly (Partial<NewField> & { readonly fieldId: string })[]
  /** Ids of fields. */
  readonly remove?: readonly string[]
}

export interface Items {
  /** Every active item, without values; complete and verified. Those that are archived instead, if so asked. */
  list(
    vault: string,
    options?: RequestOptions & { readonly status?: 'active' | 'archived' },
  ): ApiPromise<readonly ItemSummary[]>
  /** With its values, verified; both by id or name. */
  get(vault: string, item: string, options?: RequestOptions): ApiPromise<Item>
  create(vault: string, item: NewItem, options?: RequestOptions): ApiPromise<Item>
  /** Any number of new items, 500 at a time. */
  import(
    vault: string,
    items: readonly NewItem[],
    options?: RequestOptions & { readonly onProgress?: (done: number, total: number) => void },
  ): ApiPromise<readonly { readonly itemId: string; readonly name: string }[]>
  /** Writes nothing where name, website, labels and flags are so already; a value that is given is written also where it is the same. */
  update(vault: string, item: string, change: ItemChange, options?: RequestOptions): ApiPromise<Item>
  /** Its values are encrypted anew under the key of the other vault. */
  move(vault: string, item: string, to: { readonly vault: string }, options?: RequestOptions): ApiPromise<Item>
  archive(vault: string, item: string, options?: RequestOptions): ApiPromise<void>
  /** Makes an archived item active again, with the values it had. */
  restore(vault: string, item: string, options?: RequestOptions): ApiPromise<Item>
  /** The current version and those before it that are still kept, the newest first, each proven by the next; without values. */
  versions(vault: string, item: string, options?: RequestOptions): ApiPromise<readonly ItemVersion[]>
  /** The item as it was in one of its versions. */
  version(vault: string, item: string, version: number, options?: RequestOptions): ApiPromise<Item>
  /** Writes name, website and fields of a version as the next one. Refused where nothing differs. */
  restoreVersion(vault: string, item: string, version: number, options?: RequestOptions): ApiPromise<Item>
}

export interface ItemVersion {
  readonly version: number
  readonly name: string
  readonly website: string
  readonly status: 'active' | 'archived'
  readonly labels: readonly string[]
  readonly at: Date
  readonly signerKeyId: string
  /** False where the key that signed it was found to be compromised since: such a version is not opened. */
  readonly isReadable: boolean
}

export interface ItemPlace {
  readonly vaultId: string
  readonly itemId: string
}

const reads = () => import('./item-reads.ts')
const changes = () => import('./item-changes.ts')
const past = () => import('./item-versions.ts')

export function itemsOf(core: Core): Items {
  const { onReveal } = core.config.hooks
  const read = async (place: KeyedPlace, found: ItemPlace): Promise<Item> =>
    (await reads()).readOne(place, found, onReveal)
  return {
    list: (vault, { status, ...options } = {}) =>
      core.keyed(options, async (place) => (await reads()).listAll(place, vault, status)),
    get: (vault, item, options) =>
      core.keyed(options, async (place) => read(place, await (await reads()).locate(place, vault, item))),
    create: (vault, item, options) =>
      core.keyed(options, async (place) => read(place, await (await changes()).create(place, vault, item))),
    import: (vault, items, { onProgress, ...options } = {}) =>
      core.keyed(options, async (place) => (await changes()).importAll(place, vault, items, onProgress)),
    update: (vault, item, change, options) =>
      core.keyed(options, async (place) => read(place, await (await changes()).update(place, vault, item, change))),
    move: (vault, item, to, options) =>
      core.keyed(options, async (place) => read(place, await (await changes()).move(place, vault, item, to.vault))),
    archive: (vault, item, options) =>
      core.keyed(options, async (place) => (await changes()).archive(place, vault, item)),
    restore: (vault, item, options) =>
      core.keyed(options, async (place) => read(place, await (await changes()).restore(place, vault, item))),
    versions: (vault, item, options) =>
      core.keyed(options, async (place) => (await past()).versions(place, vault, item)),
    version: (vault, item, version, options) =>
      core.keyed(options, async (place) => {
        const found = await (await past()).version(place, vault, item, version)
        return (await reads()).itemOf(found, onReveal)
      }),
    restoreVersion: (vault, item, version, options) =>
      core.keyed(options, async (place) =>
        read(place, await (await past()).restoreVersion(place, vault, item, version)),
      ),
  }
}
