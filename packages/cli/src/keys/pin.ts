import { shellLine } from '@strongroom/contract'
import { KEY_ID_PATTERN, principalOf } from '@strongroom/protocol'
import type { PinnedSigner } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

// A key that a person has compared with its owner. What is noted stays in the trust store of this machine, so it has to be a key
// that a verified read has shown; one of which only the name was typed is refused.

const KEY_ID = new RegExp(KEY_ID_PATTERN)

export function ensureKeyId(text: string): void {
  if (KEY_ID.test(text)) return
  throw new CliError('usage', 'a key id has the form user:ID:FINGERPRINT or agent:ID:FINGERPRINT, all of it', {
    fix: 'strongroom key list NAME',
  })
}

/** Notes the key as compared; where this machine has not met it yet, it is looked for in this vault, or in all. */
export async function pinKey(cli: Cli, keyId: string, vault: string | undefined): Promise<PinnedSigner> {
  const { transparency, vaults } = await cli.strongroom()
  const call = { signal: cli.signal }
  const met = async () => (await transparency.trust.list()).find((one) => one.keyId === keyId)
  const known = await met()
  ensureActive(keyId, known ?? (await transparency.keys(principalOf(keyId), call)).find((one) => one.keyId === keyId))
  await transparency.trust.pin(keyId)
  if (!known) await (vault === undefined ? vaults.list(call) : vaults.get(vault, call))
  const pinned = await met()
  if (pinned) return pinned
  throw new CliError('key_not_found', 'nothing that this key has signed was read here, so nothing can be noted of it', {
    fix: shellLine`strongroom trust pin ${keyId} --vault VAULT`,
  })
}

/** A key that the log does not have, or that no longer counts, is nobody's to confirm. */
function ensureActive(keyId: string, found: { readonly status: string } | undefined): void {
  if (found?.status === 'active') return
  const why = found ? `this key has ended: ${found.status}` : 'the log has no such key'
  throw new CliError('key_not_found', why, { fix: shellLine`strongroom key list ${principalOf(keyId)}` })
}
