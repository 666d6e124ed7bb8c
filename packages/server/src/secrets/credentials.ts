import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { hashWithPepper, type Pepper } from './server-secrets.ts'

// API keys `sra_<20 base62>.<43 base64url><6 checksum>` and access tokens `srt_<43 base64url>`: what they look like, how they
// are made, and how they are compared. The checksum turns typing errors away before the database is asked.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const API_KEY = /^(sra_[0-9A-Za-z]{20})\.([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/
const ACCESS_TOKEN = /^srt_[A-Za-z0-9_-]{43}$/

/** Without bias: bytes beyond the last full range are drawn again. */
function base62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length)) if (byte < 248 && out.length < length) out += BASE62.charAt(byte % 62)
  }
  return out
}

function checksum(text: string): string {
  let rest = crc32(text)
  let out = ''
  for (let i = 0; i < 6; i++) {
    out = BASE62.charAt(rest % 62) + out
    rest = Math.floor(rest / 62)
  }
  return out
}

export interface NewApiKey {
  readonly accessKey: string
  /** Shown once. */
  readonly apiKey: string
  readonly secretHmac: Buffer
}

export function makeApiKey(pepper: Pepper): NewApiKey {
  const accessKey = `sra_${base62(20)}`
  const random = randomBytes(32).toString('base64url')
  const secret = random + checksum(`${accessKey}.${random}`)
  return { accessKey, apiKey: `${accessKey}.${secret}`, secretHmac: hashWithPepper(pepper, secret) }
}

/** undefined for anything that cannot be a key of ours. */
export function parseApiKey(text: string): { accessKey: string; secret: string } | undefined {
  const [, accessKey, random, check] = API_KEY.exec(text) ?? []
  if (accessKey === undefined || random === undefined || check !== checksum(`${accessKey}.${random}`)) return undefined
  return { accessKey, secret: random + check }
}

/** One comparison, whether the key exists or not. */
export function secretMatches(offered: Buffer, stored: string | undefined): boolean {
  const expected = stored === undefined ? Buffer.alloc(32) : Buffer.from(stored, 'hex')
  return timingSafeEqual(offered, expected) && stored !== undefined
}

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

export function makeAccessToken(): { token: string; hash: Buffer } {
  const token = `srt_${randomBytes(32).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

export const isAccessToken = (text: string): boolean => ACCESS_TOKEN.test(text)
