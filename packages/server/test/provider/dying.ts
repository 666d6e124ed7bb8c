import type { Database } from '../../src/db/database.ts'
import type { LicenseProvider } from '../../src/licenses/provider.ts'
import type { Works } from '../../src/modules/licenses/turns.ts'

// As if a process died at the nth of all the points where it touches the world: before and after each transaction, at its end before it is
// committed, and before and after each request to a provider.

export class Died extends Error {}

export interface Dying {
  readonly works: Works
  hasDied(): boolean
}

export function dyingAt(n: number, { deps, worker, providers }: Works): Dying {
  let passed = 0
  const point = (): void => {
    if (passed++ >= n) throw new Died()
  }
  const execute: ReturnType<Database['kysely']['transaction']>['execute'] = async (work) => {
    point()
    const result = await worker.kysely.transaction().execute(async (db) => {
      const inner = await work(db)
      point()
      return inner
    })
    point()
    return result
  }
  const around =
    <A, R>(ask: (asked: A) => Promise<R>) =>
    async (asked: A): Promise<R> => {
      point()
      const answer = await ask(asked)
      point()
      return answer
    }
  const mortal = (provider: LicenseProvider): LicenseProvider => ({
    ...provider,
    order: around(provider.order),
    getOrder: around(provider.getOrder),
    cancel: around(provider.cancel),
  })
  const kysely = { transaction: () => ({ execute }) } as unknown as Database['kysely']
  return {
    works: {
      deps,
      worker: { ...worker, kysely },
      providers: new Map([...providers].map(([id, provider]) => [id, mortal(provider)])),
    },
    hasDied: () => passed > n,
  }
}
