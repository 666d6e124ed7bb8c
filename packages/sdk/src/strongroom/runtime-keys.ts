import {
  encodePem,
  type Identity,
  makeKeys,
  openKeys,
  type Principal,
  type PrivateKeyMaterial,
} from '@strongroom/protocol'
import type { KeyProvider } from './options.ts'
import { Secret } from './secret.ts'

export interface RuntimeKeyOptions {
  /** Whose keys they shall be: `agent:…` or `user:…`. */
  readonly principal: string
  readonly modulusLength?: 3072 | 4096
  /** With ML-KEM-768 beside RSA. */
  readonly hybrid?: boolean
  /** Ready keys, where they were made elsewhere. */
  readonly material?: PrivateKeyMaterial
}

export interface RuntimeKey {
  readonly provider: KeyProvider
  /** PEM with PKCS#8 blocks: whoever has it is the principal. */
  exportPem(): Secret
  /** The key id: a hash of the public keys. */
  readonly fingerprint: string
}

/** New keys, made here. Nothing of them leaves this process unless it is exported. */
export async function generateRuntimeKey(options: RuntimeKeyOptions): Promise<RuntimeKey> {
  const { principal, modulusLength = 3072, hybrid = false } = options
  const material = options.material ?? (await makeKeys({ rsaBits: modulusLength, hybrid }))
  const provider: Identity = await openKeys(principal as Principal, material)
  return {
    provider,
    exportPem: () => new Secret(encodePem(material), { ref: `private key of ${principal}`, name: 'private key' }),
    fingerprint: provider.kid.slice(provider.kid.lastIndexOf(':') + 1),
  }
}
