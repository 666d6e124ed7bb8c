import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'

// What the server is measured against: one Fastify route, one prepared SELECT over a primary key, nothing else. Its answer has
// about the size of ours and a schema to be written with.

interface Row {
  readonly key: string
  readonly name: string
  readonly owner: string
  readonly note: string
}

const text = { type: 'string' } as const
const schema = {
  response: { 200: { type: 'object', properties: { key: text, name: text, owner: text, note: text } } },
}

const pool = new pg.Pool({ connectionString: process.env.BENCH_URL, max: Number(process.env.BENCH_POOL) })
const app = Fastify({ logger: false })
app.get<{ Params: { key: string } }>('/rows/:key', { schema }, async (request, reply) => {
  const { rows } = await pool.query<Row>({
    name: 'row',
    text: 'select key, name, owner, note from bench_row where key = $1',
    values: [request.params.key],
  })
  return rows[0] ?? reply.code(404).send({})
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.stderr.write(`ready at http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
