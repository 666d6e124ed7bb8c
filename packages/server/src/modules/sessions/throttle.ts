import { createHash } from 'node:crypto'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { type Limit, networkOf } from '../../http/rate-limit.ts'
import { normalEmail } from './opaque.ts'
import * as store from './store.ts'

// Slow-down of guessing. With OPAQUE every started login is one guess, whether it is finished or not, so starts are counted and
// a success gives the token back. The buckets are in the database: more processes give nobody more tries.
//
// An outsider can empty the bucket of an account. So a device that has logged in before has a bucket of its own, and whoever
// comes from it is never kept out by others.

const PER_ADDRESS: Limit = { perMinute: 60, burst: 60 }
const PER_ACCOUNT_AND_ADDRESS: Limit = { perMinute: 2, burst: 10 }
const PER_ACCOUNT: Limit = { perMinute: 6, burst: 30 }
const PER_KNOWN_DEVICE: Limit = { perMinute: 2, burst: 10 }

export interface Try {
  readonly email: string
  readonly ip: string
  /** The id of a device this account has logged in from before. */
  readonly knownDevice: string | undefined
}

interface Bucket {
  readonly subject: Buffer
  readonly limit: Limit
}

const bucket = (limit: Limit, ...names: string[]): Bucket => ({
  subject: createHash('sha256').update(names.join('\n')).digest(),
  limit,
})

function bucketsOf({ email, ip, knownDevice }: Try): readonly Bucket[] {
  const account = normalEmail(email)
  const from = networkOf(ip)
  const ofAccount =
    knownDevice === undefined
      ? [bucket(PER_ACCOUNT_AND_ADDRESS, 'account and address', account, from), bucket(PER_ACCOUNT, 'account', account)]
      : [bucket(PER_KNOWN_DEVICE, 'device', account, knownDevice)]
  // Always in one order, so that two transactions never wait for each other in a circle.
  return [bucket(PER_ADDRESS, 'address', from), ...ofAccount].sort((a, b) => a.subject.compare(b.subject))
}

export interface Verdict {
  /** 0 if the try may go on. */
  readonly retryAfterSeconds: number
  readonly buckets: readonly string[]
}

/** Takes one token from every bucket of this try. */
export async function countTry(deps: Pick<Deps, 'now'>, db: Db, tried: Try): Promise<Verdict> {
  const at = deps.now()
  const buckets = bucketsOf(tried)
  const waits: number[] = []
  for (const { subject, limit } of buckets) waits.push(await store.takeToken(db, subject, limit, at))
  await store.sweepThrottle(db, new Date(at.getTime() - FULL_AFTER_MS))
  return { retryAfterSeconds: Math.max(...waits), buckets: buckets.map(({ subject }) => subject.toString('hex')) }
}

/** Every bucket is full again by then, and a full bucket is the same as none. */
const FULL_AFTER_MS = 10 * 60_000

/** A try that ended well was no guess. */
export const forgiveTry = (db: Db, buckets: readonly string[]): Promise<void> =>
  store.returnTokens(
    db,
    buckets.map((hex) => Buffer.from(hex, 'hex')),
  )
