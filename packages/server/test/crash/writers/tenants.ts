import { byId, type Kind, makeBook, type Writer } from './writer.ts'

// Tenants: made below the first one, renamed, archived.

export const tenants: Kind = {
  name: 'tenants',
  clients: 1,
  open: async ({ journal: { submit }, founder, session }): Promise<Writer> => {
    const book = makeBook<unknown>('tenant')
    return {
      round: async (random, name) => {
        const client = session()
        const made = await submit({
          action: 'tenant.create',
          send: (options) => client.tenants.create({ body: { name, parentId: founder.tenantId } }, options),
          target: ({ tenantId }) => tenantId,
        })
        const { tenantId } = made
        book.keep(tenantId, made)
        for (const body of [{ name: `${name} renamed` }, { status: 'archived' as const }]) {
          if (random.chance(0.3)) return
          const changed = await submit({
            action: 'tenant.update',
            send: (options) => client.tenants.update({ params: { id: tenantId }, body }, options),
            target: () => tenantId,
          })
          book.keep(tenantId, changed)
        }
      },
      check: async () => book.compare(byId('tenantId', (await session().tenants.list()).data)),
    }
  },
}
