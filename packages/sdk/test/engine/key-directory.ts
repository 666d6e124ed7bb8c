import type { Envelope } from '@strongroom/protocol'
import type { Client } from '../../src/client.ts'
import type { AskForKeys } from '../../src/engine/actor.ts'

// The keys of principals and everything that proves them, put together from the transparency routes. `kids` says which keys each
// principal has: as little to be trusted as any answer.

interface Proven {
  readonly checkpoint: string
  readonly map: readonly { readonly name: string; readonly state: unknown }[]
}
interface KeyState {
  readonly rec: string
  readonly capSets: readonly { readonly docHash: string }[]
}

const ofKind = (documents: ReadonlyMap<string, Envelope>, ...kinds: readonly string[]): Envelope[] =>
  [...documents.values()].filter(({ payloadType }) => kinds.some((kind) => payloadType.includes(`.${kind}+json`)))

export const keysFromLog =
  (client: Client, kids: (principal: string) => readonly string[]): AskForKeys =>
  async (principals, { have }) => {
    const named = principals.flatMap(kids)
    const documents = new Map<string, Envelope>()
    const proofs = new Map<string, Proven>()
    const prove = async (name: string): Promise<void> => {
      if (proofs.has(name)) return
      const proof = await client.transparency.state({ query: { name, ...(have !== undefined && { have }) } })
      proofs.set(name, proof)
      const state = proof.map[0]?.state as KeyState | null
      if (name === 'policy' || !state) return
      for (const hash of [state.rec, ...state.capSets.map(({ docHash }) => docHash)]) {
        const { document } = await client.transparency.document({ params: { hash } })
        documents.set(hash, document)
        for (const { keyid } of document.signatures) await prove(`kid/${keyid}`)
      }
    }
    // The asker's own chain ends in the genesis, whoever else is asked for.
    const { data } = await client.keys.own()
    for (const name of ['policy', ...[...named, ...data.map(({ kid }) => kid)].map((kid) => `kid/${kid}`)])
      await prove(name)
    const [first] = proofs.values()
    return {
      kids: named,
      genesis: ofKind(documents, 'org.genesis')[0],
      policies: [],
      records: ofKind(documents, 'key.add', 'key.rotate', 'key.recover'),
      capSets: ofKind(documents, 'caps.set'),
      transparency: { ...first, map: [...proofs.values()].flatMap(({ map }) => map) },
    }
  }
