import type { VerifiedDirectory } from '../directory/resolve.ts'
import { fromBase64url, toBase32 } from '../encoding/base64.ts'
import { ensure } from '../errors.ts'
import { type Envelope, type Kind, peekDocument, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { type CheckedKey, mayHoldAuthority } from '../identity/key-bundle.ts'

// Section 4.7: who may administer a vault or a project, walked from its creation. This is what stops self-promotion.

/** `v` or `p` + base32 of the first 160 bits of the creation document's hash: the id certifies the creation. */
export const deriveVaultId = (createHash: string): string => `v${certifying(createHash)}`
export const deriveProjectId = (createHash: string): string => `p${certifying(createHash)}`
const certifying = (docHash: string): string => toBase32(fromBase64url(docHash).subarray(0, 20))

/** What the log says about the chain of one vault or project. */
export interface ChainState {
  readonly createIndex: number
  readonly adminsHash: string
  readonly adminsIndexes: readonly number[]
}

type CreatePayload = { readonly admins: readonly string[] }
type AdminsPayload = { readonly admins: readonly string[]; readonly adminsVersion: number; readonly prev: string }

export interface ChainKinds<C extends string, A extends string> {
  readonly create: Kind<C, CreatePayload>
  readonly admins: Kind<A, AdminsPayload>
  /** The id an admins document names. */
  idOf(payload: unknown): string
  deriveId(createHash: string): string
}

export interface AdminSet {
  /** From this leaf on (exclusively, but for the creation itself). */
  readonly index: number
  /** Of the document that named them, and the key that signed it. */
  readonly hash: string
  readonly by: string
  readonly admins: ReadonlySet<string>
}

declare const verifiedChain: unique symbol
export interface VerifiedAdminChain {
  readonly [verifiedChain]: true
  readonly sets: readonly AdminSet[]
}

/** The admins whose signature counts in leaf `index`: those in force before it, or the founders in the creating leaf. */
export function adminsBefore(chain: VerifiedAdminChain, index: number): ReadonlySet<string> {
  const [first] = chain.sets as [AdminSet]
  if (index <= first.index) return index === first.index ? first.admins : new Set()
  return (chain.sets.findLast((set) => set.index < index) as AdminSet).admins
}

/** What a client remembers of a chain: its last document, how long the log was then, and the leaf of each of its documents. */
export interface ChainPin {
  readonly adminsHash: string
  readonly size: number
  readonly chain?: readonly { readonly index: number; readonly hash: string }[]
}

/**
 * A chain that was seen only goes on. Whoever was an admin once could sign another one, and a server date it back; or move the leaf that
 * removed them to where they would still have the right.
 */
export const continues = ({ sets }: VerifiedAdminChain, { adminsHash, size, chain = [] }: ChainPin): boolean => {
  const seen = sets.findIndex((set) => set.hash === adminsHash)
  const isInPlace = chain.every(({ index, hash }, i) => sets[i]?.index === index && sets[i].hash === hash)
  return isInPlace && seen >= 0 && sets.slice(seen + 1).every(({ index }) => index >= size)
}

export const currentAdmins = (chain: VerifiedAdminChain): ReadonlySet<string> => (chain.sets.at(-1) as AdminSet).admins

/** Walks creation and admin documents; every step is signed by an admin of the step before. */
export async function verifyAdminChain<C extends string, A extends string>(
  directory: VerifiedDirectory,
  kinds: ChainKinds<C, A>,
  id: string,
  state: ChainState,
  create: Envelope,
  chain: readonly Envelope[],
): Promise<VerifiedAdminChain> {
  const hash = peekDocument(kinds.create, create).hash
  ensure(kinds.deriveId(hash) === id, 'vault_swap', 'a creation document does not hash to the id it is offered for', {
    id,
  })
  ensure(
    state.adminsIndexes.length === chain.length + 1 && state.adminsIndexes[0] === state.createIndex,
    'admin_chain',
    'the admin chain is incomplete',
    { id },
  )
  const first = await verifyStep(directory, kinds.create, create, state.createIndex, chain.length === 0)
  ensure(
    first.payload.admins.includes(principalOf(first.payload.by)),
    'admin_chain',
    'the creator is not among the first admins',
    { id },
  )
  const { admins, by } = first.payload
  const sets: AdminSet[] = [{ index: state.createIndex, hash, by, admins: new Set(admins) }]
  let last = hash
  for (const [step, envelope] of chain.entries()) {
    const index = state.adminsIndexes[step + 1] as number
    const { payload, hash: next } = await verifyStep(
      directory,
      kinds.admins,
      envelope,
      index,
      step === chain.length - 1,
    )
    ensure(kinds.idOf(payload) === id, 'vault_swap', 'an admin document is of another vault or project', { id })
    ensure(
      payload.adminsVersion === step + 2 && payload.prev === last,
      'admin_chain',
      'an admin document does not follow its predecessor',
      { id },
    )
    ensure(
      (sets[step] as AdminSet).admins.has(principalOf(payload.by)),
      'admin_chain',
      'an admin document is not signed by an admin before it',
      { id, by: payload.by },
    )
    sets.push({ index, hash: next, by: payload.by, admins: new Set(payload.admins) })
    last = next
  }
  ensure(last === state.adminsHash, 'admin_chain', 'the admin chain does not end where the log says', { id })
  return { sets } as unknown as VerifiedAdminChain
}

async function verifyStep<N extends string, P>(
  directory: VerifiedDirectory,
  kind: Kind<N, P>,
  envelope: Envelope,
  index: number,
  current: boolean,
) {
  const document = await verifyDocument(kind, envelope, directory.org, directory.keyOf)
  const { by } = document.payload
  const key = current ? await directory.signerAt(by, index) : await directory.formerSignerAt(by, index)
  ensureAuthority(key)
  return document
}

export function ensureAuthority(key: CheckedKey): void {
  ensure(mayHoldAuthority(key), 'not_authorised', 'an RSA-only key cannot act as an admin', { kid: key.kid })
}

export const sameMembers = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((member) => b.has(member))
