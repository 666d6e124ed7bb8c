// The bytes of attachments go past the API, to addresses that the server gives out. Whoever speaks to those sends no credential there.

/** What an object store answers with. */
export interface ObjectAnswer {
  /** Where in the object these bytes begin. */
  readonly start: number
  /** Of the whole object, as far as the answer says. */
  readonly size: number | undefined
  readonly body: AsyncIterable<Uint8Array>
}

export interface ObjectStore {
  /** Refuses with `asset_url` an address that nobody has named. */
  address(candidate: unknown): URL
  /** Sends one part; gives its entity tag, where the store shows it. */
  put(address: URL, body: Uint8Array, signal?: AbortSignal): Promise<string | undefined>
  /** The object from a byte on. */
  get(address: URL, from: number, signal?: AbortSignal): Promise<ObjectAnswer>
}
