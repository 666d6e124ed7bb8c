/// <reference lib="esnext.disposable" preserve="true" />
import { ConfigError } from './public-errors.ts'
import type { Receipt } from './receipt.ts'

export type SecretRef = `sr://${string}/${string}/${string}`

const INSPECT = Symbol.for('nodejs.util.inspect.custom')
// Older browsers have no such symbol; whoever polyfills `using` looks under this one.
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

export interface SecretMembers {
  /** `sr://…` for a field; a name for what is no field, such as an API key. */
  readonly ref: string
  readonly name: string
  readonly version?: number
  readonly receipt?: Receipt | undefined
  readonly onReveal?: ((event: { readonly ref: string }) => void) | undefined
}

/** A value that does not print itself: only `reveal` and `bytes` give it away. */
export class Secret {
  readonly ref: string
  readonly name: string
  /** Of the field: one more with each change of its value. */
  readonly version: number
  /** What proves it; absent for a secret that was made here. */
  readonly receipt: Receipt | undefined
  readonly #bytes: Uint8Array
  readonly #onReveal: SecretMembers['onReveal']
  #isDisposed = false

  /** Takes the bytes over: they are zero-filled with the secret. */
  constructor(value: string | Uint8Array, { ref, name, version = 1, receipt, onReveal }: SecretMembers) {
    this.#bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
    this.#onReveal = onReveal
    this.ref = ref
    this.name = name
    this.version = version
    this.receipt = receipt
  }

  #open(): Uint8Array {
    if (this.#isDisposed)
      throw new ConfigError('this secret was disposed of', { code: 'secret_disposed', hint: 'Read it again.' })
    return this.#bytes
  }

  /** The value as text; refuses bytes that are not UTF-8. */
  reveal(): string {
    const bytes = this.#open()
    this.#onReveal?.({ ref: this.ref })
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      throw new ConfigError('this secret is not text', { code: 'secret_not_text', hint: 'Use bytes().' })
    }
  }

  /** A copy. */
  bytes(): Uint8Array {
    const bytes = this.#open()
    this.#onReveal?.({ ref: this.ref })
    return bytes.slice()
  }

  /** Takes as long for any two values of the same lengths. */
  equals(other: Secret | string): boolean {
    const [left, right] = [this.#open(), other instanceof Secret ? other.#open() : new TextEncoder().encode(other)]
    let difference = left.length ^ right.length
    for (let i = 0; i < right.length; i += 1) difference |= (left[i % (left.length || 1)] ?? 0) ^ (right[i] ?? 0)
    return difference === 0
  }

  toString(): string {
    return `‹${this.ref}›`
  }

  toJSON(): string {
    return this.toString()
  }

  [INSPECT](): string {
    return this.toString()
  }

  [Symbol.toPrimitive](): string {
    return this.toString()
  }

  /** Zero-fills the value. A string that `reveal` has given is the caller's. */
  [DISPOSE](): void {
    this.#bytes.fill(0)
    this.#isDisposed = true
  }
}
