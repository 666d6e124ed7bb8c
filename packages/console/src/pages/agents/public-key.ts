import { checkKey, deriveKeyId, fromBase64, type KeyBundle, toBase64url } from '@strongroom/protocol'

// A public key somebody pastes: PEM blocks as `openssl pkey -pubout` writes them, RSA and, beside it, Ed25519.

const ED25519_SPKI_BYTES = 44
const BLOCK = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+?)-----END PUBLIC KEY-----/g

function bundleOf(pem: string): KeyBundle | undefined {
  const blocks = [...pem.matchAll(BLOCK)].map(([, body = '']) => fromBase64(body.replace(/\s+/g, '')))
  const rsa = blocks.filter(({ length }) => length !== ED25519_SPKI_BYTES)
  const ed = blocks.filter(({ length }) => length === ED25519_SPKI_BYTES)
  const [enc] = rsa
  if (!enc || rsa.length > 1 || ed.length > 1) return undefined
  const [sig = enc] = ed
  return {
    enc: toBase64url(enc),
    encAlg: 'RSA-OAEP-256',
    sig: toBase64url(sig),
    sigAlg: ed.length === 1 ? 'EdDSA' : 'PS256',
  }
}

/** The fingerprint of a pasted key, by the same check that every public key passes; or why it cannot be used. */
export function fingerprintOfPasted(pem: string): { readonly fingerprint: string } | { readonly problem: string } {
  try {
    const bundle = bundleOf(pem)
    if (!bundle) return { problem: 'Paste one RSA public key, with its Ed25519 key below it where it has one.' }
    const fingerprint = deriveKeyId(bundle)
    checkKey(`agent:pasted:${fingerprint}`, bundle)
    return { fingerprint }
  } catch (error) {
    return { problem: error instanceof Error ? `It cannot be used: ${error.message}.` : 'It cannot be read.' }
  }
}

/** In fours, to be read aloud. */
export const inFours = (fingerprint: string): string => fingerprint.replace(/(.{4})(?=.)/g, '$1 ')

export const fingerprintOf = (keyId: string): string => keyId.slice(keyId.lastIndexOf(':') + 1)
