import { clientOf } from '../world.ts'
import { byId, type Kind, makeBook, type Writer } from './writer.ts'

// Feedback of agents. Each may send twenty in an hour, so each round is another agent's.

const PER_AGENT = 18

interface Row {
  readonly feedbackId: string
  readonly agentId: string
  readonly summary: string
  readonly details: string
}

export const feedback: Kind = {
  name: 'feedback',
  clients: 4,
  open: async ({ journal: { submit }, url, session, asAuditor }): Promise<Writer> => {
    const book = makeBook<Row>('feedback')
    return {
      round: async (random, name) => {
        const client = session()
        const { agent, apiKey } = await submit({
          action: 'agent.create',
          send: (options) => client.agents.create({ body: { name, permissions: ['machine.feedback.write'] } }, options),
          target: (answer) => answer.agent.agentId,
        })
        // The answer with the key did not arrive, and it is shown once.
        if (apiKey === null) return
        const own = clientOf(url, apiKey)
        for (let i = 0; i < PER_AGENT; i++) {
          const body = { category: 'other' as const, summary: `${name} ${i}`, details: `number ${random.below(1e9)}` }
          const { feedbackId } = await submit({
            action: 'feedback.send',
            send: (options) => own.feedback.send({ body }, options),
            target: (answer) => answer.feedbackId,
          })
          const { summary, details } = body
          book.keep(feedbackId, { feedbackId, agentId: agent.agentId, summary, details })
        }
      },
      check: async () => {
        const sql = `select feedback_id as "feedbackId", agent_id as "agentId", summary, details from strongroom.feedback`
        const rows = await asAuditor(async ({ pool }) => (await pool.query<Row>(sql)).rows)
        return book.compare(byId('feedbackId', rows))
      },
    }
  },
}
