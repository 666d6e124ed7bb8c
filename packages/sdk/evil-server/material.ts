import { kidName, principalOf } from '@strongroom/protocol'
import { type DirectoryBody, type Document, type Signed, sizeOf, stateIn } from './answers.ts'
import { need, type Power } from './attack.ts'
import { payloadOf } from './forgery.ts'

// What attacks are made of: parts of the answer in hand, older answers, other vaults, members who play along.

export const orgOf = (signed: Signed): string => String(payloadOf(signed.head).org)
export const founderOf = (signed: Signed): string => String(payloadOf(signed.genesis).by)
export const authorOf = (document: Document): string => String(payloadOf(document).by)

/** The registration of whoever wrote the head, as the answer brings it. */
export const recordIn = (signed: Signed): Document =>
  need(
    signed.records.find(
      (record) => payloadOf(record).t === 'key.add' && payloadOf(record).kid === authorOf(signed.head),
    ),
    'a head by somebody whom an admin endorsed',
  )

/** An older answer of the same form whose log was shorter. */
export function olderThan<B extends { signed: Signed }>(body: B, power: Power, route: string): B {
  const size = sizeOf(body.signed.transparency.checkpoint)
  const older = power
    .recorded(route)
    .map((one) => one.body as B)
    .filter(({ signed }) => signed.vaultId === body.signed.vaultId && sizeOf(signed.transparency.checkpoint) < size)
  return structuredClone(need(older.at(-1), 'an answer recorded before something was written (--record)'))
}

/** What was recorded of another vault. */
export function otherVault<B extends { signed: Signed }>(body: B, power: Power, route: string): B {
  const others = power.recorded(route).map((one) => one.body as B)
  const found = others.findLast(({ signed }) => signed.vaultId !== body.signed.vaultId)
  return structuredClone(need(found, 'an answer recorded of another vault (--record)'))
}

/** Who is on the access list, and as what. */
const rolesIn = (signed: Signed): ReadonlyMap<string, string> =>
  new Map((payloadOf(signed.acl).acl as unknown as { p: string; role: string }[]).map(({ p, role }) => [p, role]))

export const outsiderIn = (power: Power, signed: Signed) =>
  need(
    power.accomplices.find(({ principal }) => !rolesIn(signed).has(principal)),
    'an accomplice of the organisation who is not on the access list (--accomplice)',
  )
export const writerIn = (power: Power, signed: Signed) =>
  need(
    power.accomplices.find(({ principal }) => ['write', 'admin'].includes(rolesIn(signed).get(principal) ?? '')),
    'an accomplice who may write to the vault (--accomplice)',
  )
export const adminIn = (power: Power, signed: Signed) =>
  need(
    power.accomplices.find(({ principal }) => rolesIn(signed).get(principal) === 'admin'),
    'an accomplice who is an admin of the vault (--accomplice)',
  )

/** Puts what proves a member's key into an answer; gives its entry. */
export async function introduce(power: Power, signed: Signed, kid: string) {
  const name = kidName(kid)
  const known = stateIn(signed.transparency, name)
  if (known) return known
  const path = `/vault/public-key/directory?principals=${encodeURIComponent(principalOf(kid))}`
  const { records, transparency } = (await power.ask(path)) as DirectoryBody
  const proven = need(
    transparency.map.find((one) => one.name === name),
    'a server that knows the accomplice',
  )
  const seen = new Set(signed.records.map((record) => record.payload))
  signed.records.push(...records.filter((record) => !seen.has(record.payload)))
  signed.transparency.map.push(proven)
  return need(proven.state, 'a server that knows the accomplice')
}
