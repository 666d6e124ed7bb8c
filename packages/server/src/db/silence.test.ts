import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Database, openDatabase } from './database.ts'

// A database that takes a statement and never says another word: its disk hangs, or the network between is gone. Catches: a request, a
// look at /readyz or background work that waits for it without an end, and keeps its connection; a pool that does not go on when the
// database is back; a long statement of the operator that is taken for silence. Seen red: connections that are not broken; broken whoever
// they are for.

const PATIENCE = 0.2

const sockets = new Set<Socket>()
let isMute = false

const { host, port, ...login } = inject('postgres').logins.app
const way = createServer((near) => {
  const far = connect(`${host}/.s.PGSQL.${port}`)
  for (const socket of [near, far]) {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      near.destroy()
      far.destroy()
    })
  }
  near.on('data', (chunk) => far.write(chunk))
  far.on('data', (chunk) => isMute || near.write(chunk))
})
let connection: pg.PoolConfig
beforeAll(async () => {
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  // Not the template of the other tests, which nobody may be in.
  connection = { ...login, database: 'postgres', host: '127.0.0.1', port: (way.address() as AddressInfo).port }
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  way.close()
})

async function withDatabase(isUnhurried: boolean, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ connection, poolSize: 1, patience: PATIENCE, isUnhurried }, () => undefined)
  try {
    await work(database)
  } finally {
    await database.close()
  }
}

it('is not waited for longer than a statement may take, and is asked again when it speaks', () =>
  withDatabase(false, async ({ pool }) => {
    const ask = () => pool.query('select 1 as one').then(({ rows }) => rows)
    expect(await ask()).toEqual([{ one: 1 }])
    isMute = true
    await expect(ask().finally(() => (isMute = false))).rejects.toThrow('Connection terminated')
    expect(await ask()).toEqual([{ one: 1 }])
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  }))

it('is given its time where statements take as long as they take', () =>
  withDatabase(true, async ({ pool }) => {
    const seconds = 10 * PATIENCE + 0.5
    const client = await pool.connect()
    try {
      await client.query("select set_config('statement_timeout', '0', false)")
      await client.query('select pg_sleep($1)', [seconds])
    } finally {
      client.release()
    }
  }))
