import { createHash, createHmac } from 'node:crypto'

// AWS Signature Version 4, the two forms that an object store needs: headers for our own requests, and addresses for somebody
// else's. Paths are not encoded twice, as S3 has it.

export interface Credentials {
  readonly keyId: string
  readonly secret: string
  readonly region: string
}

interface Signing {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly payloadHash: string
}

const UNSIGNED = 'UNSIGNED-PAYLOAD'
const ALGORITHM = 'AWS4-HMAC-SHA256'
const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** In the order of the encoded bytes, since that is what both sides compare. */
const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')

const dateOf = (at: Date): string => at.toISOString().replace(/[-:]|\.[0-9]{3}/g, '')
const scopeOf = (date: string, region: string): string => `${date.slice(0, 8)}/${region}/s3/aws4_request`
const namesOf = (headers: Readonly<Record<string, string>>): string => Object.keys(headers).sort().join(';')

function signatureOf({ method, url, headers, payloadHash }: Signing, date: string, credentials: Credentials): string {
  const names = Object.keys(headers).sort()
  const canonical = [
    method,
    url.pathname.split('/').map(decodeURIComponent).map(encode).join('/'),
    queryOf(url),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n')
  const scope = scopeOf(date, credentials.region)
  const key = scope
    .split('/')
    .reduce<string | Buffer>((previous, part) => hmac(previous, part), `AWS4${credentials.secret}`)
  return hmac(key as Buffer, [ALGORITHM, date, scope, sha256(canonical)].join('\n')).toString('hex')
}

/** The headers of a request of our own; its body is under the signature. */
export function signHeaders(
  { method, url, body = '' }: { method: string; url: URL; body?: string },
  credentials: Credentials,
  at: Date,
): Record<string, string> {
  const date = dateOf(at)
  const payloadHash = sha256(body)
  const headers = { host: url.host, 'x-amz-content-sha256': payloadHash, 'x-amz-date': date }
  const signature = signatureOf({ method, url, headers, payloadHash }, date, credentials)
  const credential = `${credentials.keyId}/${scopeOf(date, credentials.region)}`
  const { host: _, ...sent } = headers
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${namesOf(headers)}, Signature=${signature}`,
  }
}

/** An address for one request with exactly these headers. */
export function presign(
  { method, url, headers = {} }: { method: string; url: URL; headers?: Readonly<Record<string, string>> },
  credentials: Credentials,
  at: Date,
  expiresAt: Date,
): string {
  const date = dateOf(at)
  const signed = new URL(url)
  const all = { ...headers, host: url.host }
  const members = {
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${credentials.keyId}/${scopeOf(date, credentials.region)}`,
    'X-Amz-Date': date,
    'X-Amz-Expires': String(Math.max(1, Math.floor((expiresAt.getTime() - at.getTime()) / 1000))),
    'X-Amz-SignedHeaders': namesOf(all),
  }
  for (const [name, value] of Object.entries(members)) signed.searchParams.set(name, value)
  const signature = signatureOf({ method, url: signed, headers: all, payloadHash: UNSIGNED }, date, credentials)
  return `${signed.origin}${signed.pathname}?${queryOf(signed)}&X-Amz-Signature=${signature}`
}
