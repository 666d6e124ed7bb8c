import { ensure } from '../errors.ts'

// Section 7: where a client lets itself be sent for the bytes of an attachment. The address comes from the server, without proof.

export interface StorageAddresses {
  /** The address of the server itself. */
  readonly server: string
  /** Origins of object stores that the user of the client has named. */
  readonly origins?: readonly string[]
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const isLoopbackHttp = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.test(hostname)

/** The address to use, whole. Refuses with `asset_url` whatever is neither the server's own nor of an origin that was named. */
export function checkStorageUrl(candidate: unknown, { server, origins = [] }: StorageAddresses): URL {
  ensure(typeof candidate === 'string', 'malformed', 'the address of an attachment is not text')
  const own = new URL(server)
  const isRelative = /^\/(?![/\\])/.test(candidate)
  const text = isRelative ? `${server.replace(/\/+$/, '')}${candidate}` : candidate
  ensure(URL.canParse(text), 'asset_url', 'the address of an attachment cannot be read')
  const url = new URL(text)
  const plain = url.username === '' && url.password === '' && url.hash === ''
  ensure(plain, 'asset_url', 'the address of an attachment has a user or a fragment', { origin: url.origin })
  const isNamed = url.origin === own.origin || origins.some((origin) => new URL(origin).origin === url.origin)
  ensure(isNamed, 'asset_url', 'the address of an attachment is at a place that nobody has named', {
    origin: url.origin,
  })
  const isSafe = url.origin === own.origin || url.protocol === 'https:' || (isLoopbackHttp(url) && isLoopbackHttp(own))
  ensure(isSafe, 'asset_url', 'the address of an attachment is not encrypted', { origin: url.origin })
  return url
}
