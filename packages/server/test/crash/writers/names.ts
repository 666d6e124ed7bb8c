import { byId, type Kind, makeBook, type Writer } from './writer.ts'

// People's names, changed again and again: the lightest write there is, for a rate that leaves no moment without one.

export const names: Kind = {
  name: 'names',
  clients: 8,
  open: async ({ journal: { submit }, session, people }): Promise<Writer> => {
    const book = makeBook<unknown>('user')
    return {
      round: async (random, name) => {
        // A client changes one person's name only, so that what was acknowledged last is what must be there.
        const id = people[Number(name.split(' ')[1]) % people.length] ?? ''
        const body = { name: `${name} ${random.below(1e9)}` }
        const user = await submit({
          action: 'user.update',
          send: (options) => session().users.update({ params: { id }, body }, options),
          target: () => id,
        })
        book.keep(id, user)
      },
      check: async () => book.compare(byId('userId', (await session().users.list()).users)),
    }
  },
}
