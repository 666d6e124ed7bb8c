import { byId, type Kind, makeBook, type Writer } from './writer.ts'

// Security groups: made, filled, renamed, emptied, removed.

export const groups: Kind = {
  name: 'groups',
  clients: 2,
  open: async ({ journal: { submit }, founder, session }): Promise<Writer> => {
    const { tenantId } = founder
    const members = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const { agent } = await founder.client.agents.create({ body: { name: `in groups ${i}`, permissions: [] } })
        return { type: 'agent' as const, id: agent.agentId }
      }),
    )
    const book = makeBook<unknown>('group')
    return {
      round: async (random, name) => {
        const client = session()
        const made = await submit({
          action: 'security-group.create',
          send: (options) => client.groups.create({ body: { tenantId, name } }, options),
          target: ({ groupId }) => groupId,
        })
        const { groupId } = made
        const params = { id: groupId }
        book.keep(groupId, made)
        for (let i = random.below(3); i >= 0; i--) {
          const some = random.shuffled(members).slice(0, random.below(members.length))
          const filled = await submit({
            action: 'security-group.set-members',
            send: (options) => client.groups.setMembers({ params, body: { members: some } }, options),
            target: () => groupId,
          })
          book.keep(groupId, filled)
        }
        const renamed = await submit({
          action: 'security-group.update',
          send: (options) => client.groups.update({ params, body: { name: `${name} renamed` } }, options),
          target: () => groupId,
        })
        book.keep(groupId, renamed)
        if (random.chance(0.5)) return
        await submit({
          action: 'security-group.remove',
          send: (options) => client.groups.remove({ params }, options),
          target: () => groupId,
        })
        book.strike(groupId)
      },
      check: async () => book.compare(byId('groupId', (await session().groups.list()).data)),
    }
  },
}
