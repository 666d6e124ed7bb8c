import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Database } from '../../src/db/database.ts'

// Processes that kill themselves, without a last word, at the nth of all the points where they touch the world. All kill matrices are
// made of them.

/** What such a process is told. */
export interface Mortal {
  readonly app: pg.ClientConfig
  readonly worker: pg.ClientConfig
  /** How far its clock is ahead. */
  readonly skewMs: number
  /** Absent: it lives. */
  readonly dieAt?: number
}

/** Where and when one has died, by its own clock. */
export interface Death {
  readonly where: string
  readonly at: Date
}

/** Says what is about to be done, or was just done; does not come back if this is where to die. */
export type Point = (where: string) => void

export function pointOf({ dieAt }: Pick<Mortal, 'dieAt'>, now: () => Date): Point {
  let passed = 0
  return (where) => {
    if (passed++ !== dieAt) return
    writeSync(process.stdout.fd, JSON.stringify({ where, at: now() }))
    process.kill(process.pid, 'SIGKILL')
  }
}

/** The same, with a point before and after each call. */
export const aroundEach = <T extends object>(thing: T, point: Point): T =>
  new Proxy(thing, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]): unknown => {
        point(`before ${String(name)}`)
        const result: unknown = Reflect.apply(member, target, given)
        return result instanceof Promise ? after(result, () => point(`after ${String(name)}`)) : result
      }
    },
  })

async function after<T>(result: Promise<T>, then: () => void): Promise<T> {
  const value = await result
  then()
  return value
}

type Query = (config: unknown, values?: unknown, callback?: unknown) => unknown

const textOf = (config: unknown): string =>
  (typeof config === 'string' ? config : ((config as { text?: string }).text ?? '')).replace(/\s+/g, ' ').trim()
const headOf = (text: string): string => text.slice(0, 40)

/** Of a transaction only its beginning and its end: who dies in between leaves what one leaves that dies before it is committed. */
function watchStatements(client: pg.PoolClient, point: Point): void {
  const query = client.query.bind(client) as Query
  let [isInside, last] = [false, '']
  const watched: Query = (config, values, callback) => {
    const text = textOf(config)
    const [begins, ends] = [/^(begin|start)\b/i.test(text), /^(commit|rollback)\b/i.test(text)]
    const where = ends ? `${text} of ${last}` : headOf(text)
    const isPoint = !isInside || ends
    if (isPoint) point(`before ${where}`)
    if (!ends) last = headOf(text)
    isInside = begins || (isInside && !ends)
    const passed = (): void => {
      if (isPoint && !begins) point(`after ${where}`)
    }
    if (typeof callback !== 'function') return after(query(config, values) as Promise<unknown>, passed)
    return query(config, values, (...answer: unknown[]) => {
      passed()
      callback(...answer)
    })
  }
  client.query = watched as typeof client.query
}

/** Each touch from now on is a point: statements outside of transactions, and before, at the end of and after each transaction. */
export function mortalDatabase(database: Database, point: Point): Database {
  const known = new WeakSet<pg.PoolClient>()
  database.pool.on('acquire', (client) => {
    if (known.has(client)) return
    known.add(client)
    watchStatements(client, point)
  })
  return database
}

/** As unguessable as it needs to be here: the real one brings the whole server, which each of hundreds of processes would load. */
export const newTestId = (prefix: string): string => `${prefix}_${randomBytes(11).toString('hex')}`

/** Half of what such a process costs is to load its code. */
const COMPILED = fileURLToPath(new URL('../../../../.setup/compile-cache', import.meta.url))

export function readOrders<T extends Mortal>(): T {
  // Who is killed would not write down what was compiled.
  flushCompileCache()
  return JSON.parse(process.env.MORTAL_ORDERS ?? '{}')
}

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
}

const ended = (file: URL, orders: Mortal): Promise<Exit> =>
  new Promise((resolve) => {
    const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env, MORTAL_ORDERS: JSON.stringify(orders) }
    const child = spawn(process.execPath, [fileURLToPath(file)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    child.once('close', (code, signal) => resolve({ code, signal, said }))
  })

/** The database notices a moment later, and only then gives back what was locked. */
async function untilBuried(login: pg.ClientConfig, name: string): Promise<void> {
  const client = new pg.Client(login)
  await client.connect()
  const isThere = async (): Promise<boolean> =>
    (await client.query('select 1 from pg_stat_activity where application_name = $1', [name])).rows.length > 0
  while (await isThere());
  await client.end()
}

/** Runs such a process to its end: its death, or undefined if it lived. */
export async function runMortal<T extends Mortal>(file: URL, orders: T): Promise<Death | undefined> {
  const name = `mortal ${randomUUID()}`
  const named = (login: pg.ClientConfig): pg.ClientConfig => ({ ...login, application_name: name })
  const { code, signal, said } = await ended(file, { ...orders, app: named(orders.app), worker: named(orders.worker) })
  if (code === 0) return undefined
  if (signal !== 'SIGKILL' || said === '') throw new Error(`a process ended with ${code ?? signal}`)
  await untilBuried(orders.worker, name)
  const { where, at } = JSON.parse(said) as { readonly where: string; readonly at: string }
  return { where, at: new Date(at) }
}

/** How one play ended. */
export interface Ended {
  /** Undefined if nobody died. */
  readonly death: Death | undefined
  readonly wrong: string | undefined
}

/** Counts what became of the work of processes that were killed. */
export interface Matrix {
  /** A process was killed there, and this was wrong afterwards. */
  add(where: string, wrong: string | undefined): void
  /** Plays with a death at a later point each time, until a process runs through without dying. */
  atEveryPoint(what: string, play: (dieAt: number) => Promise<Ended>): Promise<void>
  /** Prints the line, and sets what this process ends with. */
  end(more?: Readonly<Record<string, unknown>>): void
}

const brokenOff = (error: Error): Ended => ({ death: undefined, wrong: `broken off: ${error.message}` })

/** More than any play has. */
const MOST_POINTS = 400
const SHOWN = 5

/** A case is a death; a play in which nobody dies is none, but it can fail. With a step, only every so manieth point is one to die at. */
export function startMatrix(test: string, step = 1): Matrix {
  const startedAt = Date.now()
  const seconds = (): number => Math.round((Date.now() - startedAt) / 1000)
  const failures: string[] = []
  let cases = 0
  const say = (where: string, wrong: string | undefined): void => {
    process.stderr.write(`${where}: ${wrong ?? 'right'}, ${seconds()} s\n`)
    if (wrong !== undefined) failures.push(`${where}: ${wrong}`)
  }
  const add = (where: string, wrong: string | undefined): void => {
    cases += 1
    say(where, wrong)
  }
  return {
    add,
    atEveryPoint: async (what, play) => {
      for (let dieAt = 0; dieAt < MOST_POINTS; dieAt += step) {
        const { death, wrong } = await play(dieAt).catch(brokenOff)
        if (!death) return say(`${what}, nobody killed`, wrong)
        add(`${what}, killed at ${dieAt}, ${death.where}`, wrong)
      }
      say(what, 'does not come to its end')
    },
    end: (more = {}) => {
      const counted = { cases, failures: failures.length, first: failures.slice(0, SHOWN), seed: 0, seconds: seconds() }
      console.log(JSON.stringify({ test, step, ...more, ...counted }))
      if (failures.length > 0 || cases === 0) process.exitCode = 1
    },
  }
}
