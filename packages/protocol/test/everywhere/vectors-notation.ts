import { platform } from '#platform'
import { type Bytes, concat, fromHex, u32be, utf8 } from '../../src/encoding/bytes.ts'
import type { Principal } from '../../src/identity/identifiers.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { identityOf, type KeyName } from '../world/actors.ts'

// How the vectors write down what JSON cannot: bytes, private keys and altered answers. vectors/README.md says the same.

/** Lower-case hex; or text; or one byte string many times; or several one after the other; or the stream SHA-256(seed ‖ u32be(0)) ‖ SHA-256(seed ‖ u32be(1)) … */
export type BytesNotation =
  | string
  | { readonly utf8: string }
  | { readonly repeat: string; readonly count: number }
  | { readonly stream: string; readonly length: number }
  | readonly BytesNotation[]

const isList = (notation: BytesNotation): notation is readonly BytesNotation[] => Array.isArray(notation)

export function bytesOf(notation: BytesNotation): Bytes {
  if (typeof notation === 'string') return fromHex(notation)
  if (isList(notation)) return concat(...notation.map(bytesOf))
  if ('utf8' in notation) return utf8(notation.utf8)
  if ('repeat' in notation) {
    const unit = fromHex(notation.repeat)
    return new Uint8Array(unit.length * notation.count).map((_, i) => unit[i % unit.length] as number)
  }
  return streamOf(notation.stream, notation.length)
}

export function streamOf(seed: string, length: number): Bytes {
  const out = new Uint8Array(length)
  for (let at = 0, block = 0; at < length; at += 32, block++) {
    const hash = platform.sha256(concat(utf8(seed), u32be(block)))
    out.set(hash.subarray(0, Math.min(32, length - at)), at)
  }
  return out
}

/** A key of keys.json in the hands of a principal. */
export interface KeyReference {
  readonly key: KeyName
  readonly principal: Principal
}
export const identityFor = ({ key, principal }: KeyReference): Promise<Identity> => identityOf(key, principal)

/** RFC 6902, of which the vectors use three operations. */
export interface PatchStep {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

type Container = Record<string, unknown>

export function applyPatch(document: unknown, patch: readonly PatchStep[]): unknown {
  const copy = { root: structuredClone(document) }
  for (const { op, path, value } of patch) {
    const steps = `/root${path}`
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = steps.pop() as string
    const parent = steps.reduce((node, step) => node[step] as Container, copy as Container)
    if (op === 'remove') Array.isArray(parent) ? parent.splice(Number(last), 1) : delete parent[last]
    else if (op === 'add' && Array.isArray(parent))
      parent.splice(last === '-' ? parent.length : Number(last), 0, structuredClone(value))
    else parent[last] = structuredClone(value)
  }
  return copy.root
}

/** Draws the given values instead of random ones, one after the other, while `run` runs; refuses to draw more or others. */
export async function drawing<T>(values: readonly Uint8Array[], run: () => Promise<T>): Promise<T> {
  const { randomBytes } = platform
  const left = [...values]
  platform.randomBytes = (length) => {
    const value = left.shift()
    if (value?.length !== length) throw new Error(`a vector gives no random value of ${length} bytes at this place`)
    return value as Bytes
  }
  try {
    return await run()
  } finally {
    platform.randomBytes = randomBytes
  }
}

/** What one operation does with the input of a case. */
export type Operation = (input: never, given: never) => unknown
export type Operations = Readonly<Record<string, Operation>>
