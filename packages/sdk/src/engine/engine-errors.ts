/** There is nothing in the cache to answer from, or only what is older than was seen, or there is no cache. */
export class NotCachedError extends Error {
  override name = 'NotCachedError'
  readonly vaultId: string
  constructor(vaultId: string, options?: ErrorOptions) {
    super('there is nothing to answer from without the server', options)
    this.vaultId = vaultId
  }
}

/** No answer came that says whether a change was made. Repeating it with the same key makes it at most once. */
export class UncertainWriteError extends Error {
  override name = 'UncertainWriteError'
  readonly vaultIds: readonly string[]
  readonly idempotencyKey: string
  constructor(vaultIds: readonly string[], idempotencyKey: string, options?: ErrorOptions) {
    super('it is not known whether the change was made: read the vault, or repeat the change', options)
    this.vaultIds = vaultIds
    this.idempotencyKey = idempotencyKey
  }
}
