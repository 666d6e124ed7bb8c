import { type Dek, type Envelope, type Identity, type Rotation, rotateKey } from '@strongroom/protocol'
import { ApiError } from '../errors.ts'
import { type Actor, type CallerOptions, withIdentity } from './actor.ts'
import { listOf, membersOf, refuseUnless } from './answers.ts'
import { sendUntilAnswered } from './send.ts'
import { vaultKeys } from './vaults.ts'
import { alarming, pinsOf } from './verified.ts'

// Docs/reference/protocol.md 11: another key for the same agent. The old one signs the change and hands over every vault key it holds.

export interface RotateKeyOptions extends CallerOptions {
  /** Vaults whose keys were unwrapped and wrapped anew, of all. */
  readonly onProgress?: (done: number, total: number) => void
  /** Another way to bring the rotation to the server than that of an agent. */
  readonly submit?: (rotation: Rotation) => Promise<unknown>
}

export interface RotatedKey {
  /** The actor with the new key. */
  readonly actor: Actor
  readonly rewrapped: number
}

const MAX_TRIES = 4

/**
 * Rotates to `next`. When this returns, the new key has read every vault of the old one, verified: only now may the old private
 * key be forgotten. If it refuses, keep both: the log may have taken the rotation already.
 */
export async function rotateRuntimeKey(
  actor: Actor,
  next: Identity,
  { onProgress, submit, ...options }: RotateKeyOptions = {},
): Promise<RotatedKey> {
  const send = submit ?? ((rotation) => register(actor, rotation, options))
  const held = await handOver(actor, next, send, { ...options, ...(onProgress && { onProgress }) })
  const renewed = withIdentity(actor, next)
  for (const vaultId of new Set(held.map((dek) => dek.vaultId))) await vaultKeys(renewed, vaultId, options)
  return { actor: renewed, rewrapped: held.length }
}

function register(actor: Actor, { event, replacements }: Rotation, { signal }: CallerOptions): Promise<unknown> {
  const body = { event, ...(replacements.length > 0 && { replacements: [...replacements] as Envelope[] }) }
  return sendUntilAnswered(actor, {
    vaultIds: [],
    idempotencyKey: crypto.randomUUID(),
    call: signal ? { signal } : {},
    send: (call) => actor.client.keys.register({ body }, call),
  })
}

/** A vault that is shared with the key meanwhile makes the batch incomplete; it is then made again. */
async function handOver(
  actor: Actor,
  next: Identity,
  send: (rotation: Rotation) => Promise<unknown>,
  options: RotateKeyOptions,
): Promise<readonly Dek[]> {
  for (let tries = 1; ; tries += 1) {
    const held = await heldKeys(actor, options)
    const rotation = await rotateKey({ org: actor.org, at: actor.now(), held }, actor.identity, next)
    try {
      await send(rotation)
      return held
    } catch (error) {
      const isIncomplete = error instanceof ApiError && error.code === 'incomplete_replacement_batch'
      if (!isIncomplete || tries >= MAX_TRIES) throw error
    }
  }
}

/** Each is verified and unwrapped; the server only says which vaults to look at, and its log refuses a batch that lacks one. */
async function heldKeys(actor: Actor, { onProgress, signal }: RotateKeyOptions): Promise<readonly Dek[]> {
  const { data } = await actor.client.keys.grants({}, signal && { signal })
  const grants = listOf(data, 'data').map((grant) => membersOf(grant, 'grant'))
  const own = grants.filter(({ kid }) => kid === actor.identity.kid)
  const vaultIds = [...new Set(own.map(({ vaultId }) => String(vaultId)))]
  await refuseOmitted(actor, vaultIds, { data }, signal)
  const held: Dek[] = []
  for (const [i, vaultId] of vaultIds.entries()) {
    held.push(...(await vaultKeys(actor, vaultId, { signal })).keys.values())
    onProgress?.(i + 1, vaultIds.length)
  }
  return held
}

/** A vault that was read before and still opens is missing in the list: whoever rotates by it would lose that vault. */
async function refuseOmitted(
  actor: Actor,
  vaultIds: readonly string[],
  answer: unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { org } = pinsOf(actor, await actor.trust.read())
  for (const vaultId of Object.keys(org.vaults).filter((known) => !vaultIds.includes(known))) {
    const opens = await vaultKeys(actor, vaultId, { signal }).then(
      () => true,
      (error: unknown) => {
        // Given back meanwhile, or never given to this key.
        if (error instanceof ApiError) return false
        throw error
      },
    )
    await alarming(actor, { vaultId, answer, org }, async () =>
      refuseUnless(!opens, 'incomplete_batch', 'the server leaves out a vault whose key this one has', { vaultId }),
    )
  }
}
