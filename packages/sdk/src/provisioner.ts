import { checkKey, type Principal, ProtocolError, provisionerOf } from '@strongroom/protocol'

// Who signs the hand-offs of licences on a server. An organisation takes hand-offs of nobody but those that its policy names, and each is
// named by its own key (docs/reference/protocol.md 6.5): what a server publishes can be checked against itself, and against the policy.

const PATH = '/.well-known/license-issuer-keys.json'

/** A key of the built-in issuer, as a JWK. */
export interface IssuerKey {
  readonly kid: string
  /** The Ed25519 public key in base64url. */
  readonly x: string
}

export interface Published {
  readonly keys: readonly IssuerKey[]
  readonly provisioner: Principal
}

interface Answer {
  readonly keys?: readonly IssuerKey[]
  readonly provisioner?: { readonly kid?: unknown; readonly key?: unknown }
}

/** What the server publishes; undefined where it sells no licences. */
export async function published(baseUrl: string, network: typeof fetch = fetch): Promise<Published | undefined> {
  const response = await network(`${baseUrl.replace(/\/$/, '')}${PATH}`, { method: 'GET', redirect: 'error' })
  if (!response.ok) return undefined
  const { keys = [], provisioner = {} } = (await response.json().catch(() => ({}))) as Answer
  if (typeof provisioner.kid !== 'string') return undefined
  const key = checkKey(provisioner.kid, provisioner.key)
  const principal = provisionerOf(key.bundle)
  if (key.principal !== principal)
    throw new ProtocolError('key_substitution', 'the provisioner is not named by its own key', { kid: key.kid })
  return { keys: keys.map(({ kid, x }) => ({ kid, x })), provisioner: principal }
}
