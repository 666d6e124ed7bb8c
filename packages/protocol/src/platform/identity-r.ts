/**
 * Whether R, the first half of an Ed25519 signature, is the identity. Node refuses such a signature and Chromium takes it; only
 * the holder of a key can make one, and could show a document as genuine to some and as forged to others. So nobody takes it
 * (section 2.1).
 */
export const hasIdentityR = (signature: Uint8Array): boolean =>
  signature[0] === 1 && signature.subarray(1, 32).every((byte) => byte === 0)
