import {
  decodePem,
  type Identity,
  NO_WITNESSES,
  openKeys,
  orgTrustOf,
  type Principal,
  type PrivateKeyMaterial,
  parseTrustAnchor,
} from '@strongroom/protocol'
import type { Client } from '../client.ts'
import { type Actor, makeActor } from '../engine/actor.ts'
import { orAborted } from '../engine/queue.ts'
import { pinTrust } from '../engine/trust.ts'
import type { Config } from './options.ts'
import { ConfigError } from './public-errors.ts'

// What the calls of a client share: opened keys, the pinned organisation, what was verified, names that were resolved.

export interface Session {
  /** The actor of this client; opened once. */
  open(config: Config, client: Client, signal: AbortSignal | undefined): Promise<Actor>
  /** Goes on with other keys of the same principal. */
  replace(actor: Actor): void
  /** Ids of vaults by the name they were verified to have. */
  readonly vaultIds: Map<string, string>
}

/** Resending is the transport's work here, with the same idempotency key; twice would multiply. */
const ONE_SENDER = { maxResends: 0, timeoutMs: 2_147_483_647 }

const missing = (option: string, variable: string, hint: string): ConfigError =>
  new ConfigError(`${option} is missing, and this call verifies or opens secrets`, { missing: [variable], hint })

async function principalOf(config: Config, client: Client): Promise<Principal> {
  if (config.principal !== undefined) return config.principal as Principal
  const { principal } = await client.identity.me()
  if (principal.type === 'operator')
    throw new ConfigError('a key of the operator has no keys of its own', {
      code: 'config_invalid',
      hint: 'Use the bundle of an agent, or the session of a person.',
    })
  return principal.id as Principal
}

async function identityOf(config: Config, client: Client): Promise<Identity> {
  const { privateKey, cache, openKeys: openWith } = config
  if (privateKey === undefined)
    throw missing('the private key', 'STRONGROOM_PRIVATE_KEY', 'Give privateKey, or a bundle, which has it.')
  if (typeof privateKey !== 'string') return privateKey
  const material = (): PrivateKeyMaterial => readPem(privateKey)
  // Before the server is asked whose they are.
  if (config.principal === undefined) material()
  const principal = await principalOf(config, client)
  return cache && openWith ? openWith(cache, principal, privateKey, material) : openKeys(principal, material())
}

function readPem(pem: string): PrivateKeyMaterial {
  try {
    return decodePem(pem)
  } catch {
    throw new ConfigError('the private key cannot be read', {
      code: 'config_invalid',
      missing: ['STRONGROOM_PRIVATE_KEY'],
      hint: 'Give PEM text with the PKCS#8 blocks that came with the agent.',
    })
  }
}

async function orgOf(config: Config, client: Client): Promise<string> {
  const { trustAnchor, trust } = config
  if (trustAnchor !== undefined) {
    const { org } = readAnchor(trustAnchor)
    await pinTrust(trust, trustAnchor)
    return org
  }
  const { org } = await client.identity.me()
  const store = await trust.read()
  if (!Object.hasOwn(store.orgs, org.orgId))
    throw missing(
      'the trust anchor',
      'STRONGROOM_TRUST_ANCHOR',
      'Give trustAnchor (vta1.…) as an administrator of the organisation told you, or a bundle, which has it.',
    )
  orgTrustOf(store, org.orgId)
  return org.orgId
}

function readAnchor(anchor: string): ReturnType<typeof parseTrustAnchor> {
  try {
    return parseTrustAnchor(anchor)
  } catch (cause) {
    throw new ConfigError('the trust anchor cannot be read', {
      code: 'config_invalid',
      missing: ['STRONGROOM_TRUST_ANCHOR'],
      hint: 'Copy it whole, from vta1. on.',
      cause,
    })
  }
}

async function openActor(config: Config, client: Client): Promise<Actor> {
  const identity = await identityOf(config, client)
  const org = await orgOf(config, client)
  const { trust, cache, maxStaleMs, witnessWaitMs, witnessPolicy, mode, confirmed, onRecovery, hooks } = config
  if (witnessPolicy !== undefined && orgTrustOf(await trust.read(), org).tlogPolicy !== NO_WITNESSES)
    throw new ConfigError('the trust anchor names its own witnesses', {
      code: 'config_conflict',
      hint: 'Leave verify.witnesses out, or use an anchor without witnesses.',
    })
  return makeActor({
    client,
    org,
    identity,
    trust,
    cache,
    policy: {
      ...ONE_SENDER,
      maxStaleMs,
      witnessWaitMs,
      mode,
      ...(witnessPolicy && { witnessPolicy }),
      confirmed,
      onRecovery,
    },
    onNotice: (notice) => hooks.onNotice?.(notice),
    onNewSigner: async (signer) => {
      const isTrusted = (await config.onNewSigner?.(signer)) === 'trust'
      if (isTrusted) confirmed.add(signer.keyId)
      return isTrusted
    },
  })
}

export function makeSession(): Session {
  let opening: Promise<Actor> | undefined
  return {
    open: async (config, client, signal) => {
      for (;;) {
        const isOwn = opening === undefined
        opening ??= openActor(config, client).catch((error: unknown) => {
          opening = undefined
          throw error
        })
        try {
          return await orAborted(opening, signal)
        } catch (error) {
          // What ended the call of somebody else, such as its signal, does not concern this one: it opens by itself.
          if (isOwn || signal?.aborted) throw error
        }
      }
    },
    replace: (actor) => {
      opening = Promise.resolve(actor)
    },
    vaultIds: new Map(),
  }
}
