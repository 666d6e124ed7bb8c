import {
  addSignatures,
  documentHash,
  grantName,
  type JsonObject,
  type KeyBundle,
  principalOf,
} from '@strongroom/protocol'
import { asDocument, asEnvelope, type DirectoryBody, type EnvironmentBody, sizeOf, stateIn } from '../answers.ts'
import { type Accomplice, type Attack, changing, ENV, need, type Power, replacing } from '../attack.ts'
import { payloadOf, rewrite, wrapChosenKey } from '../forgery.ts'
import { logFalsely } from '../log.ts'
import { adminIn, introduce, olderThan, otherVault, outsiderIn } from '../material.ts'

// Wrapped vault keys, rows 13 to 20, and rows 12 and 13 of docs/reference/protocol.md 10.

const first = ({ wrappedKeys }: EnvironmentBody) => need(wrappedKeys[0], 'an answer with a wrapped key')

/** The public keys of the victim, from its registration. */
async function bundleOf(power: Power, kid: string): Promise<KeyBundle> {
  const path = `/vault/public-key/directory?principals=${encodeURIComponent(principalOf(kid))}`
  const { records } = (await power.ask(path)) as DirectoryBody
  const own = records.map(payloadOf).find((record) => record.kid === kid)
  return need(own?.key, 'a reader whom somebody endorsed') as unknown as KeyBundle
}

/** A vault key of the attacker's choice, granted by the log. */
async function grantChosen(
  body: EnvironmentBody,
  power: Power,
  { identity }: Accomplice,
  isHonestCommit: boolean,
): Promise<void> {
  const wrap = first(body)
  const { to, vaultId, dekVersion } = payloadOf(wrap) as { to: string; vaultId: string; dekVersion: number }
  await introduce(power, body.signed, identity.kid)
  const chosen = await wrapChosenKey(wrap, await bundleOf(power, to), identity, isHonestCommit)
  const grant: JsonObject = { wrapHash: documentHash(chosen), index: sizeOf(body.signed.transparency.checkpoint) }
  const states = { [grantName(vaultId, to, dekVersion)]: grant }
  await logFalsely(power, body.signed.transparency, { t: 'grant.add', docs: [chosen], states })
  body.wrappedKeys = [asDocument(chosen)]
}

export const WRAP_ATTACKS: readonly Attack[] = [
  changing<EnvironmentBody>(
    ENV,
    ['13', 'wrap-unsigned', 'a wrapped key without its signature', 'WRAP_UNSIGNED', 'missing_signature'],
    (body) => {
      first(body).signatures = []
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '14',
      'wrap-of-unlisted-signer',
      'a wrapped key signed by nobody the directory knows',
      'WRAP_SIGNER',
      'unknown_signer',
    ],
    async (body, power) => {
      const stranger = await power.keysAs('user:stranger')
      const wrap = first(body)
      Object.assign(wrap, await addSignatures({ ...asEnvelope(wrap), signatures: [] }, [stranger]))
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['15', 'wrap-of-other-vault', 'the wrapped key of another vault', 'WRAP_CONTEXT', 'wrap_context'],
    (body, power) => {
      body.wrappedKeys = otherVault(body, power, ENV).wrappedKeys
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['16', 'wrap-for-other-recipient', 'a wrapped key for somebody else', 'WRAP_RECIPIENT', 'wrap_context'],
    async (body, power) => {
      rewrite(first(body), { to: (await power.keysAs('user:somebody')).kid })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['17', 'chosen-vault-key', 'a vault key of the attacker, wrapped correctly', 'WRAP_SIGNER', 'stale_wrapped_dek'],
    async (body, power) => {
      const wrap = first(body)
      const stranger = await power.keysAs('user:stranger')
      const chosen = await wrapChosenKey(wrap, await bundleOf(power, String(payloadOf(wrap).to)), stranger)
      body.wrappedKeys = [asDocument(chosen)]
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '17',
      'chosen-vault-key-logged',
      'the same by a member who is no admin, and the log grants it',
      'WRAP_SIGNER',
      'not_authorised',
    ],
    (body, power) => grantChosen(body, power, outsiderIn(power, body.signed), false),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['18', 'older-vault-key', 'only the wrapped key of an older version', 'WRAP_ROLLBACK', 'unwrapped_key_missing'],
    (body, power) => {
      const current = Math.max(...body.wrappedKeys.map((wrap) => Number(payloadOf(wrap).dekVersion)))
      const older = olderThan(body, power, ENV).wrappedKeys.filter(
        (wrap) => Number(payloadOf(wrap).dekVersion) < current,
      )
      body.wrappedKeys = need(older.length > 0 && older, 'an answer recorded before the vault got a new key (--record)')
    },
    { second: true },
  ),
  ...['RSA1_5', 'RSA-OAEP', 'none'].map((alg) =>
    changing<EnvironmentBody>(
      ENV,
      [
        '19',
        `wrap-algorithm-${alg.toLowerCase().replace('_', '-')}`,
        `a wrapped key under the algorithm ${alg}`,
        'ALG_REFUSED',
        'malformed',
      ],
      (body) => rewrite(first(body), { alg }),
    ),
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '19',
      'wrap-algorithm-mixed',
      'a wrapped key that says it is hybrid and is not',
      'ALG_REFUSED',
      'stale_wrapped_dek',
    ],
    (body) => rewrite(first(body), { alg: 'RSA-OAEP-256+ML-KEM-768' }),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['20', 'wrap-withheld', 'no wrapped key', 'WRAP_ABSENT', 'unwrapped_key_missing'],
    (body) => {
      body.wrappedKeys = []
    },
  ),
  replacing(
    ENV,
    ['20', 'wrap-denied', 'the server says that there is no wrapped key', 'WRAP_ABSENT', 'wrapped_key_missing'],
    (answer) => {
      const error = {
        code: 'wrapped_key_missing',
        message: 'nobody has wrapped the vault key for you yet',
        requestId: 'evil',
      }
      return { ...answer, status: 404, body: { error } }
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      'P12',
      'split-vault-key',
      'an admin who wraps another vault key for one reader under the commitment of the true one',
      'DEK_COMMITMENT',
      'dek_commitment',
    ],
    (body, power) => grantChosen(body, power, adminIn(power, body.signed), true),
    { behindKeys: true },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      'P13',
      'wrap-signed-anew',
      'a genuine wrapped key whose signature was replaced by that of another admin, and the log grants it',
      'WRAP_CONTEXT',
      'wrap_context',
    ],
    async (body, power) => {
      const { identity } = adminIn(power, body.signed)
      const wrap = first(body)
      const { to, vaultId, dekVersion } = payloadOf(wrap) as { to: string; vaultId: string; dekVersion: number }
      need(payloadOf(wrap).by !== identity.kid, 'an accomplice who did not wrap the key')
      rewrite(wrap, { by: identity.kid })
      const anew = await addSignatures({ ...asEnvelope(wrap), signatures: [] }, [identity])
      await introduce(power, body.signed, identity.kid)
      const name = grantName(vaultId, to, dekVersion)
      const grant = need(stateIn(body.signed.transparency, name), 'an answer that proves its grants')
      const states = {
        [name]: { ...grant, wrapHash: documentHash(anew), index: sizeOf(body.signed.transparency.checkpoint) },
      }
      await logFalsely(power, body.signed.transparency, { t: 'grant.add', docs: [anew], states })
      body.wrappedKeys = [asDocument(anew)]
    },
    { behindKeys: true },
  ),
]
