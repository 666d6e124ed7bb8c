import { toBase64url } from '../../src/encoding/base64.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { leafHash } from '../../src/log/merkle.ts'
import { rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import type { Transparency } from '../../src/log/transparency.ts'
import type { EnvironmentAnswer } from '../../src/vault/answer.ts'
import type { KeyReference } from '../../test/everywhere/vectors-notation.ts'
import { ORIGIN } from '../../test/world/log-host.ts'
import { type AnswerOptions, MINUTE, ORG, type World } from '../../test/world/world.ts'
import { accepts, refuses, type VectorCase } from './file.ts'
import type { Desk } from './vault-desk.ts'
import { deskOf, fixedWorld, patchBetween } from './world-desk.ts'

// Section 6.4: answers about the production vault of the small organisation, and how they are turned into attacks.

type Mutable<T> = T extends readonly (infer U)[]
  ? Mutable<U>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T

/** An answer that may be altered in any place. */
export interface Answer extends Omit<Mutable<EnvironmentAnswer>, 'transparency' | 'fields'> {
  transparency: Mutable<Transparency>
  fields: { row: Record<string, unknown>; value: string }[]
}

/** The readers of the honest answers, by the name of their answer. */
export const READERS = { ed25519: 'deploy', rsaOnly: 'worker', hybrid: 'hybrid' } as const
export type ReaderName = keyof typeof READERS

export const readerOf = (world: World, name: ReaderName): Identity => world.actors[READERS[name]]
const referenceTo = ({ key }: Identity, name: ReaderName): KeyReference => ({
  key: READERS[name],
  principal: key.principal,
})

export async function answerOf(world: World, name: ReaderName, options: AnswerOptions = {}): Promise<Answer> {
  return structuredClone(await world.answer(world.prod, readerOf(world, name), options)) as unknown as Answer
}

export const seenAt = ({ host }: World, size: number): { size: number; root: string } => ({
  size,
  root: toBase64url(rootOfLeaves(host.leaves.slice(0, size).map(({ made }) => leafHash(made.bytes)))),
})

export const trustOf = ({ host, genesis, now }: World): Readonly<Record<string, unknown>> => ({
  org: ORG,
  genesis: documentHash(genesis),
  origin: ORIGIN,
  logKeys: [host.logVkey],
  witnessPolicy: host.tlogPolicy,
  seen: null,
  now,
  maxStaleMs: 60 * MINUTE,
})

/** What a reader with memory holds of the production vault. */
export function memoryOf({ host, prod }: World): object {
  const state = host.state(vaultName(prod)) as VaultState
  const { headVersion, headHash, dekVersion, dekCommit, aclVersion, adminsHash } = state
  return { headVersion, headHash, dekVersion, dekCommit, aclVersion, adminsHash, size: host.leaves.length }
}

export interface Variant {
  readonly answer: Answer
  /** What this reader has pinned besides, or otherwise. */
  readonly trust?: object
  readonly vaultId?: string
}

export interface Situation {
  readonly name: string
  readonly reader?: ReaderName
  /** Absent where the answer is honest. */
  readonly code?: ProtocolErrorCode
  /** Whether something is logged on the way: such a situation has an organisation of its own. */
  readonly logs?: true
  make(world: World, desk: Desk): Promise<Variant>
}

interface Circumstances {
  readonly trust?: (world: World) => object
  readonly reader?: ReaderName
  readonly options?: (world: World) => AnswerOptions
  readonly vaultId?: (world: World) => string
}

/** The server alters an honest answer on its way. */
export const altered = (
  name: string,
  code: ProtocolErrorCode,
  change: (answer: Answer, world: World) => unknown,
  more: Circumstances = {},
): Situation => ({
  name,
  code,
  ...(more.reader && { reader: more.reader }),
  make: async (world) => {
    const answer = await answerOf(world, more.reader ?? 'ed25519', more.options?.(world))
    await change(answer, world)
    return {
      answer,
      ...(more.trust && { trust: more.trust(world) }),
      ...(more.vaultId && { vaultId: more.vaultId(world) }),
    }
  },
})

/** Something was logged, rightly or wrongly, and the server answers from that log. */
export const logged = (
  name: string,
  code: ProtocolErrorCode | undefined,
  act: (world: World, desk: Desk) => Promise<object | undefined>,
  reader: ReaderName = 'ed25519',
): Situation => ({
  name,
  reader,
  logs: true,
  ...(code && { code }),
  make: async (world, desk) => {
    const trust = await act(world, desk)
    return { answer: await answerOf(world, reader), ...(trust && { trust }) }
  },
})

const VALUES = { DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', STRIPE_KEY: 'sk_live_51H' }

/** What the reader of an honest answer sees: the three values that were written, whatever happened since. */
function resultOf({ answer }: Variant) {
  const payload = JSON.parse(Buffer.from(answer.head.payload, 'base64').toString())
  const note = answer.transparency.checkpoint.split('\n')
  return {
    fields: answer.fields.map(({ row }) => {
      const label = row.label as keyof typeof VALUES
      return { label, type: 1, value: Buffer.from(VALUES[label]).toString('hex') }
    }),
    headVersion: payload.headVersion,
    dekVersions: answer.wrappedKeys.map(
      (wrap) => JSON.parse(Buffer.from(wrap.payload, 'base64').toString()).dekVersion,
    ),
    size: Number(note[1]),
    witnessed: true,
  }
}

/** One case: the honest answer of its reader, and what differs from it. */
export async function caseOf(
  situation: Situation,
  untouched: World,
  honest: Readonly<Record<ReaderName, Answer>>,
): Promise<VectorCase> {
  const { name, reader = 'ed25519', code, logs, make } = situation
  const world = logs ? await fixedWorld() : untouched
  const variant = await make(world, await deskOf(world))
  const patch = patchBetween(honest[reader], variant.answer)
  const input = {
    answer: reader,
    ...(patch.length > 0 && { patch }),
    vaultId: variant.vaultId ?? world.prod,
    reader: referenceTo(readerOf(world, reader), reader),
    ...(variant.trust && { trust: variant.trust }),
  }
  return code ? refuses('read', name, code, input) : accepts('read', name, input, resultOf(variant))
}
