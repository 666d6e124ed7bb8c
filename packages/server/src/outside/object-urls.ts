import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RootKey } from '../secrets/root-key.ts'

// Addresses of objects on this server's own disk. Whoever has one may do exactly one thing until it runs out: what that is stands
// in the address, under a MAC. They begin with a slash: whose name the server goes by is not for a request to say.

export interface PartUrl {
  readonly kind: 'part'
  readonly key: string
  readonly partNumber: number
  readonly size: number
  readonly expires: number
}
export interface DownloadUrl {
  readonly kind: 'download'
  readonly key: string
  readonly expires: number
}
type ObjectUrl = PartUrl | DownloadUrl

const VERSION = 'object-url.v1'

function macOf(rootKey: RootKey, url: ObjectUrl): Buffer {
  const facts = url.kind === 'part' ? [url.partNumber, url.size] : []
  const text = [VERSION, url.kind, url.key, url.expires, ...facts].join('\n')
  return createHmac('sha256', rootKey.derive('object-url')).update(text).digest()
}

export function formatObjectUrl(rootKey: RootKey, url: ObjectUrl): string {
  const signature = macOf(rootKey, url).toString('base64url')
  return url.kind === 'part'
    ? `/objects/${url.key}/parts/${url.partNumber}?size=${url.size}&expires=${url.expires}&signature=${signature}`
    : `/objects/${url.key}?expires=${url.expires}&signature=${signature}`
}

/** Whether this server gave out exactly this address, and its time is not over. */
export function isGenuine(rootKey: RootKey, url: ObjectUrl, signature: string, now: Date): boolean {
  const given = Buffer.from(signature, 'base64url')
  const mac = macOf(rootKey, url)
  const isSame = given.length === mac.length && timingSafeEqual(given, mac) && given.toString('base64url') === signature
  return isSame && now.getTime() < url.expires
}
