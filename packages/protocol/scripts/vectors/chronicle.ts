import { toBase64url } from '../../src/encoding/base64.ts'
import { decodeUtf8 } from '../../src/encoding/bytes.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { transition } from '../../src/transition/transition.ts'
import { type Actors, openActors } from '../../test/world/actors.ts'
import { type LogHost, openLogHost } from '../../test/world/log-host.ts'
import { signBytes, typeOf } from './documents.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'

// Section 5.7: a whole small log with its documents, and acts that are tried on it at some point.

export const ORG = 'org_acme'
export const T0 = 1_767_225_600_000
export const SALT = 'AAAAAAAAAAAAAAAAAAAAAA'

/** Signs what it is told, well-formed or not; `by` is the first signer unless the members say otherwise. */
export const sign = (kind: string, members: object, ...signers: readonly Signer[]): Promise<Envelope> =>
  signBytes(
    typeOf(kind),
    canonical({ v: 3, t: kind, org: ORG, at: T0, by: signers[0]?.kid ?? '', ...members }),
    signers,
  )

export interface Chronicle extends Actors {
  readonly host: LogHost
  readonly cases: readonly VectorCase[]
  /** Appends an act that must be accepted, as a case of its own. */
  act(name: string, ...docs: readonly Envelope[]): Promise<void>
  /** Tries an act here without appending it. */
  ok(name: string, docs: readonly Envelope[], at?: number): Promise<void>
  no(name: string, code: ProtocolErrorCode, docs: readonly Envelope[], at?: number): void
  /** A leaf that a lying server appends here. */
  lie(name: string, code: ProtocolErrorCode, leaf: Uint8Array, docs: readonly Envelope[]): void
  file(head: Pick<VectorFile, 'vectors' | 'section' | 'comment'>): VectorFile
}

export async function openChronicle(host?: LogHost): Promise<Chronicle> {
  const log = host ?? (await openLogHost(ORG))
  const cases: VectorCase[] = []
  const here = (docs: readonly Envelope[], at: number) => ({ after: log.leaves.length, at, docs })
  const ok = async (name: string, docs: readonly Envelope[], at = T0): Promise<void> => {
    const { t, d, updates } = await transition(log.ledger, log.leaves.length, { docs, at })
    cases.push(accepts('transition', name, here(docs, at), { t, d, updates }))
  }
  return {
    ...(await openActors()),
    host: log,
    cases,
    ok,
    act: async (name, ...docs) => {
      await ok(name, docs)
      await log.append(docs, T0)
    },
    no: (name, code, docs, at = T0) => {
      cases.push(refuses('transition', name, code, here(docs, at)))
    },
    lie: (name, code, leaf, docs) => {
      const after = log.leaves.length
      cases.push(refuses('audit', name, code, { after, leaf: decodeUtf8(leaf), docs }))
    },
    file: (head) => fileOf(head, log, cases),
  }
}

/** Documents of the log are named once and referred to by their hash. */
function fileOf(
  head: Pick<VectorFile, 'vectors' | 'section' | 'comment'>,
  { leaves, ledger }: LogHost,
  cases: readonly VectorCase[],
): VectorFile {
  const documents = new Map(
    leaves.flatMap(({ docs }) => docs.map((envelope) => [documentHash(envelope), envelope] as const)),
  )
  const named = (envelope: Envelope): Envelope | string => {
    const hash = documentHash(envelope)
    return JSON.stringify(documents.get(hash)) === JSON.stringify(envelope) ? hash : envelope
  }
  const log = leaves.map(({ made, docs }) => ({ leaf: decodeUtf8(made.bytes), docs: docs.map(documentHash) }))
  const short = (one: VectorCase): VectorCase => {
    const input = one.input as { docs: readonly Envelope[] }
    return { ...one, input: { ...input, docs: input.docs.map(named) } }
  }
  const replay = accepts('replay', 'the whole log', { leaves: leaves.length }, { root: toBase64url(ledger.map.root()) })
  return {
    ...head,
    given: { org: ORG, log, documents: Object.fromEntries(documents) },
    cases: [replay, ...cases.map(short)],
  }
}
