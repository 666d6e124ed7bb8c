import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'

export interface SearchHit {
  readonly kind: 'vault' | 'item' | 'field' | 'license'
  readonly id: string
  /** What was found: a name, a website or a label. */
  readonly name: string
  readonly vaultId: string | null
  readonly itemId: string | null
  /** Names from the vault down, for people. */
  readonly path: string
  /** 0 to 1. */
  readonly score: number
}

export interface SearchParams {
  readonly kinds?: readonly SearchHit['kind'][]
  readonly limit?: number
}

export interface Search {
  /** By name, best first, also misspelt. What the server says; reading verifies. Values are never searched. */
  query(text: string, params?: SearchParams, options?: RequestOptions): ApiPromise<readonly SearchHit[]>
}

export const searchOf = (core: Core): Search => ({
  query: (query, { kinds, limit } = {}, options) =>
    core.call(options, async ({ client, options: call }) => {
      const body = { query, ...(kinds && { kinds: [...kinds] }), ...(limit !== undefined && { limit }) }
      const { data } = await client.search.query({ body }, call)
      return data.map(({ kind, id, name, vaultId, vaultName, itemId, itemName, score }) => {
        const path = [...new Set([vaultName, itemName, name].filter((part) => part !== null))].join('/')
        return { kind, id, name, vaultId, itemId, path, score }
      })
    }),
})
