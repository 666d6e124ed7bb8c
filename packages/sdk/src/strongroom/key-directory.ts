import {
  documentHash,
  documentsOf,
  type Envelope,
  fromBase64,
  parseKid,
  parseLeaf,
  principalOf,
  updatesOf,
} from '@strongroom/protocol'
import type { CallOptions, Client } from '../client.ts'
import type { AskForKeys } from '../engine/actor.ts'
import { StrongroomError } from './strongroom-error.ts'

// Which keys others have: every key that ever came in is named in a leaf of the log, so the log is read once and followed from
// there. What is found is verified like any answer; nothing here is trusted.

export interface KeyDirectory {
  /** How much of the log was looked at. */
  size: number
  readonly kids: Map<string, Set<string>>
}

const AT_ONCE = 1000

async function follow(directory: KeyDirectory, client: Client, call: CallOptions): Promise<void> {
  const { size } = await client.transparency.checkpoint({}, call)
  while (directory.size < size) {
    const query = { start: directory.size, end: Math.min(directory.size + AT_ONCE, size) }
    const { entries } = await client.transparency.entries({ query }, call)
    if (entries.length === 0) throw new StrongroomError('the log has a gap', { code: 'unexpected_answer' })
    for (const { leaf, updates } of entries) {
      const named = updatesOf(parseLeaf(fromBase64(leaf)), updates === undefined ? undefined : fromBase64(updates))
      for (const [name] of named) if (name.startsWith('kid/')) shelve(directory, name.slice(4))
    }
    directory.size += entries.length
  }
}

function shelve({ kids }: KeyDirectory, kid: string): void {
  parseKid(kid)
  const principal = principalOf(kid)
  kids.set(principal, (kids.get(principal) ?? new Set()).add(kid))
}

interface Proven {
  readonly checkpoint: string
  readonly map: readonly { readonly name: string; readonly state: unknown }[]
}
interface KeyState {
  readonly status?: string
  readonly rec?: string
  readonly capSets?: readonly { readonly docHash: string }[]
}
interface PolicyState {
  readonly policyVersion?: number
  readonly policyHash?: string
}

const MAX_TRIES = 6

/** The log moved on between two proofs: they are of different moments and prove nothing together. */
class LogMoved extends Error {}

/** How an actor asks for the keys of others, over the routes of the transparency log. */
export const keysFromLog =
  (directory: KeyDirectory, client: Client): AskForKeys =>
  async (principals, call) => {
    for (let tries = 1; ; tries += 1) {
      await follow(directory, client, call)
      const kids = principals.flatMap((principal) => [...(directory.kids.get(principal) ?? [])])
      try {
        return await collect(client, kids, call)
      } catch (error) {
        if (!(error instanceof LogMoved) || tries >= MAX_TRIES) throw error
      }
    }
  }

/** The states and documents of these keys, of everybody who vouched for them, and of the policy; all of one checkpoint. */
async function collect(client: Client, kids: readonly string[], call: CallOptions): Promise<unknown> {
  const proofs = new Map<string, Proven>()
  const documents = new Map<string, Envelope>()
  const fetchDocument = async (hash: string): Promise<Envelope> => {
    const known = documents.get(hash)
    if (known) return known
    const { document } = await client.transparency.document({ params: { hash } }, call)
    documents.set(hash, document)
    return document
  }
  const prove = async (name: string): Promise<unknown> => {
    const [first] = proofs.values()
    const proof = await client.transparency.state({ query: { name } }, call)
    if (first && bodyOf(first) !== bodyOf(proof)) throw new LogMoved()
    proofs.set(name, proof)
    return proof.map[0]?.state
  }
  const policies = await policyChain((await prove('policy')) as PolicyState | null, fetchDocument)
  const waiting = kids.map((kid) => `kid/${kid}`)
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (proofs.has(name)) continue
    const { rec, capSets = [] } = ((await prove(name)) ?? {}) as KeyState
    for (const hash of [...(rec === undefined ? [] : [rec]), ...capSets.map(({ docHash }) => docHash)]) {
      const { signatures } = await fetchDocument(hash)
      waiting.push(...signatures.map(({ keyid }) => `kid/${keyid}`))
    }
  }
  const genesis = await genesisOf(client, documents, call)
  const [first] = proofs.values()
  return {
    kids,
    genesis,
    policies,
    records: ofKind(documents, 'key.add', 'key.rotate', 'key.recover'),
    capSets: ofKind(documents, 'caps.set'),
    transparency: { ...first, map: [...proofs.values()].flatMap(({ map }) => map) },
  }
}

/** Origin, size and root; signatures of witnesses may come meanwhile. */
const bodyOf = ({ checkpoint }: Proven): string => checkpoint.slice(0, checkpoint.indexOf('\n\n'))

const isKind = ({ payloadType }: Envelope, kind: string): boolean => payloadType.includes(`.${kind}+json`)
const ofKind = (documents: ReadonlyMap<string, Envelope>, ...kinds: readonly string[]): Envelope[] =>
  [...documents.values()].filter((envelope) => kinds.some((kind) => isKind(envelope, kind)))

/** From the policy in force back to the genesis, whose own policy needs no document. */
async function policyChain(
  state: PolicyState | null,
  fetchDocument: (hash: string) => Promise<Envelope>,
): Promise<readonly Envelope[]> {
  const chain: Envelope[] = []
  let hash = state?.policyHash
  for (let version = state?.policyVersion ?? 1; version > 1 && hash !== undefined; version -= 1) {
    const envelope = await fetchDocument(hash)
    chain.unshift(envelope)
    const { prev } = JSON.parse(new TextDecoder().decode(fromBase64(envelope.payload))) as { prev?: string }
    hash = prev
  }
  return chain
}

/** The first leaf of the log is the genesis. */
async function genesisOf(
  client: Client,
  documents: ReadonlyMap<string, Envelope>,
  call: CallOptions,
): Promise<Envelope | undefined> {
  const [known] = ofKind(documents, 'org.genesis')
  if (known) return known
  const { entries } = await client.transparency.entries({ query: { start: 0, end: 1 } }, call)
  const [entry] = entries
  const [hash] = entry ? documentsOf(parseLeaf(fromBase64(entry.leaf))) : []
  if (hash === undefined) return undefined
  const { document } = await client.transparency.document({ params: { hash } }, call)
  return documentHash(document) === hash ? document : undefined
}
