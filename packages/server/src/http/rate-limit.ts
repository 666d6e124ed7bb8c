import { makeRecent } from '../db/recent.ts'

// Token buckets in memory: a limit per credential, and a stricter one per address for requests nobody can be named for. Each
// process counts for itself; behind n processes a caller gets at most n times the limit.

export interface Limit {
  readonly perMinute: number
  readonly burst: number
}

export interface Verdict {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Seconds until a request is allowed again, or until the bucket is full. */
  readonly resetSeconds: number
}

interface Bucket {
  tokens: number
  at: number
}

const MAX_BUCKETS = 50_000

export interface RateLimiter {
  /** Takes one request from the bucket of `name`. */
  take(name: string, limit: Limit, nowMs: number): Verdict
  /** Whether the bucket of `name` has a request left; takes none. */
  hasRoom(name: string, limit: Limit, nowMs: number): boolean
}

export function makeRateLimiter(): RateLimiter {
  const buckets = makeRecent<Bucket>(MAX_BUCKETS)
  const fill = (name: string, { perMinute, burst }: Limit, nowMs: number): Bucket => {
    let bucket = buckets.get(name)
    if (!bucket) {
      bucket = { tokens: burst, at: nowMs }
      buckets.set(name, bucket)
    }
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.at) * perMinute) / 60_000)
    bucket.at = nowMs
    return bucket
  }
  const verdict = (bucket: Bucket, { perMinute, burst }: Limit, allowed: boolean): Verdict => {
    const missing = allowed ? burst - bucket.tokens : 1 - bucket.tokens
    return {
      allowed,
      limit: burst,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      resetSeconds: Math.max(allowed ? 0 : 1, Math.ceil((missing * 60) / perMinute)),
    }
  }
  return {
    take: (name, limit, nowMs) => {
      const bucket = fill(name, limit, nowMs)
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens--
      return verdict(bucket, limit, allowed)
    },
    hasRoom: (name, limit, nowMs) => fill(name, limit, nowMs).tokens >= 1,
  }
}

export const PER_CREDENTIAL: Limit = { perMinute: 6000, burst: 1200 }
/** Failed attempts only: an address with valid credentials is never slowed by this one. */
export const FAILURES_PER_ADDRESS: Limit = { perMinute: 60, burst: 60 }
export const FAILURES_PER_KEY: Limit = { perMinute: 10, burst: 10 }

/** Whom an address stands for: one of IPv4 by itself, one of IPv6 with its whole /64, since each customer has one. */
export function networkOf(ip: string): string {
  const v4 = /(?:^|:)([0-9]{1,3}(?:\.[0-9]{1,3}){3})$/.exec(ip)?.[1]
  if (v4 !== undefined) return v4
  const [head = '', tail] = (ip.split('%')[0] ?? '').toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0')
  return [...groups, ...zeros, ...after].slice(0, 4).join(':')
}
