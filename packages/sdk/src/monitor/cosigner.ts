import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import {
  addNoteSignatures,
  cosign,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  type NoteSigner,
  type VerifiedCheckpoint,
} from '@strongroom/protocol'

/** Who gives timestamped cosignatures (docs/reference/protocol.md 5.3) under a name. What it may vouch for is decided elsewhere. */
export interface Cosigner {
  readonly name: string
  /** What others verify its cosignatures with. */
  readonly vkey: string
  /** One signature line of a note, without its newline. */
  cosign(checkpoint: VerifiedCheckpoint): Promise<string>
}

/** Whoever submits a note may have filled it with signatures up to the limit. */
const withOneSignature = (note: string): string => note.slice(0, note.indexOf('\n', note.lastIndexOf('\n\n') + 2) + 1)

export function makeCosigner(name: string, signer: NoteSigner, now: () => number = Date.now): Cosigner {
  const { vkey } = makeVerifierKey(name, NOTE_COSIGNATURE, signer.publicKey)
  return {
    name,
    vkey,
    cosign: async (checkpoint) => {
      const signature = await cosign(checkpoint, name, signer, Math.floor(now() / 1000))
      return addNoteSignatures(withOneSignature(checkpoint.note), [signature]).trimEnd().split('\n').at(-1) as string
    },
  }
}

// The key is a file: PKCS #8, PEM, readable by its owner and nobody else.

const isShared = (mode: number): boolean => process.platform !== 'win32' && (mode & 0o077) !== 0

/** Refuses a key that others on the machine could read. */
export async function openKeyFile(path: string): Promise<NoteSigner> {
  if (isShared((await stat(path)).mode)) throw new Error(`others can read the key file ${path}: chmod 600 it`)
  const key = createPrivateKey(await readFile(path, 'utf8'))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`the key file ${path} holds no Ed25519 key`)
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return { publicKey: Buffer.from(String(x), 'base64url'), sign: (message) => sign(null, message, key) }
}

/** Never writes over a file that is there. */
export async function makeKeyFile(path: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(privateKey.export({ format: 'pem', type: 'pkcs8' }))
    await file.sync()
  } finally {
    await file.close()
  }
}
