import { toBase64url } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { auditLeaf, type Ledger, makeLedger } from '../../src/transition/ledger.ts'
import { transition } from '../../src/transition/transition.ts'
import type { Operations } from './vectors-notation.ts'

// Section 5.7: logs that are replayed, and acts that are tried at one of their leaves.

interface GivenLog {
  readonly org: string
  readonly log: readonly { readonly leaf: string; readonly docs: readonly string[] }[]
  readonly documents: Readonly<Record<string, Envelope>>
}

type DocumentOrHash = string | Envelope
const documentsOf = ({ documents }: GivenLog, docs: readonly DocumentOrHash[]): Envelope[] =>
  docs.map((one) => (typeof one === 'string' ? (documents[one] as Envelope) : one))

/** The state after so many leaves, each of them audited. */
async function replay(given: GivenLog, leaves: number): Promise<Ledger> {
  const ledger = makeLedger(given.org)
  for (const { leaf, docs } of given.log.slice(0, leaves))
    await auditLeaf(ledger, { leaf: utf8(leaf), docs: documentsOf(given, docs) })
  return ledger
}

// Trying an act changes nothing, so the cases of one file share a state.
const replayed = new WeakMap<GivenLog, Map<number, Promise<Ledger>>>()
function stateAfter(given: GivenLog, leaves: number): Promise<Ledger> {
  const known = replayed.get(given) ?? new Map<number, Promise<Ledger>>()
  replayed.set(given, known)
  const ledger = known.get(leaves) ?? replay(given, leaves)
  known.set(leaves, ledger)
  return ledger
}

interface ActInput {
  readonly after: number
  readonly docs: readonly DocumentOrHash[]
}

export const ledgerOperations: Operations = {
  replay: async ({ leaves }: { leaves: number }, given: GivenLog) => ({
    root: toBase64url((await replay(given, leaves)).map.root()),
  }),
  transition: async ({ after, docs, at }: ActInput & { at: number }, given: GivenLog) => {
    const act = { docs: documentsOf(given, docs), at }
    const { t, d, updates } = await transition(await stateAfter(given, after), after, act)
    return { t, d, updates }
  },
  audit: async ({ after, leaf, docs }: ActInput & { leaf: string }, given: GivenLog) => {
    const { t } = await auditLeaf(await replay(given, after), { leaf: utf8(leaf), docs: documentsOf(given, docs) })
    return { t }
  },
}
