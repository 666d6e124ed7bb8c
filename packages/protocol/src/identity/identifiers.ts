import { platform } from '#platform'
import { toBase32 } from '../encoding/base64.ts'
import { type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'

// Section 2.1. Ids are compared bytewise and never contain ':' or '/', so names built from them stay unambiguous.

const ID = /^[A-Za-z0-9_-]{4,64}$/
const PRINCIPAL = /^(user|agent):[A-Za-z0-9_-]{4,64}$/
const KID = /^(user|agent):[A-Za-z0-9_-]{4,64}:[a-z2-7]{32}$/
const VAULT_ID = /^v[a-z2-7]{32}$/
const PROJECT_ID = /^p[a-z2-7]{32}$/

export const KEY_ID_PATTERN: string = KID.source

export const id: Shape<string> = text(ID)
export const principalText: Shape<string> = text(PRINCIPAL)
export const kidText: Shape<string> = text(KID)
export const vaultIdText: Shape<string> = text(VAULT_ID)
export const projectIdText: Shape<string> = text(PROJECT_ID)

/** `user:<orgUserId>` or `agent:<agentId>`: who, whatever key they use. */
export type Principal = `user:${string}` | `agent:${string}`
/** `<principal>:<keyId>`: who, with which key. */
export type Kid = `${Principal}:${string}`

/** Checks the form of a key id and gives its parts; whether the key belongs to it is `checkKey`'s question. */
export function parseKid(kid: string): { principal: Principal; type: 'user' | 'agent'; keyId: string } {
  ensure(KID.test(kid), 'malformed', 'a key id is not of the form user:<id>:<keyId> or agent:<id>:<keyId>')
  const cut = kid.lastIndexOf(':')
  return {
    principal: kid.slice(0, cut) as Principal,
    type: kid.startsWith('user:') ? 'user' : 'agent',
    keyId: kid.slice(cut + 1),
  }
}

export const principalOf = (kid: string): Principal => parseKid(kid).principal

/** 160 bits of a hash as 32 characters: the certifying part of key, vault and project ids. */
export const certify = (bytes: Uint8Array): string => toBase32(platform.sha256(bytes).subarray(0, 20))

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** A client-minted id: the ciphertext binds it, so it must exist before encryption. 130 random bits. */
export function makeId(prefix: 'itm' | 'fld' | 'ast' | 'inv' | 'shr'): string {
  const bytes = platform.randomBytes(26)
  return `${prefix}_${Array.from(bytes, (byte) => CROCKFORD.charAt(byte & 31)).join('')}`
}
