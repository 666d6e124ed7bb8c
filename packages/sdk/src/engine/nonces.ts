import { refuseUnless } from './answers.ts'

// One key per item and version: two values of an item under one nonce give both away. No server can bring that about, because each
// ciphertext is in signed metadata; a writer whose random numbers repeat could, and it can be seen without any key.

/** `v3.`, then 6 bytes of header, which hold the key version, and 12 of nonce: exactly 24 characters. */
const PREFIX = 27

export interface SealedValue {
  readonly itemId: string
  readonly envelope: string
}

/** Refuses with `field_swap` two values of one item that begin alike. */
export function refuseNonceReuse(values: readonly SealedValue[]): void {
  const seen = new Set(values.map(({ itemId, envelope }) => `${itemId} ${envelope.slice(0, PREFIX)}`))
  refuseUnless(seen.size === values.length, 'field_swap', 'two values of one item are sealed under one nonce')
}
