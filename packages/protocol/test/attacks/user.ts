import { platform } from '#platform'
import { recoveryEnrol } from '../../src/directory/documents.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat } from '../../src/encoding/bytes.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import { lp } from '../../src/encoding/lp.ts'
import { documentHash, type Envelope, verifyDocument } from '../../src/identity/document.ts'
import type { CheckedKey } from '../../src/identity/key-bundle.ts'
import { decodePem, type Identity } from '../../src/identity/private-keys.ts'
import { makeDeviceSecret } from '../../src/user/codes.ts'
import { checkKdf, makeKdf } from '../../src/user/kdf-floor.ts'
import { bundleKeyBytes, deriveUnlockKey, openPrivateBundle, sealPrivateBundle } from '../../src/user/private-bundle.ts'
import { openRecoverySeal, recoverySeal, sealForRecovery, verifyRecoverySeal } from '../../src/user/recovery.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { ORG, type World } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import { forge } from './powers.ts'

// Rows 9, 17, 19 and 20: what a server can do to people: their passphrases, their private keys, their way back, and the
// way new ones come in.

const PHC = makeKdf('argon2id').phc
const ARGON = (memory: number, passes: number): string => PHC.replace('m=65536,t=3', `m=${memory},t=${passes}`)

const OF = { org: ORG, orgUserId: 'ou_carol', bundleVersion: 2 }
const deviceSecret = makeDeviceSecret()
const unlock = (exportKeyByte = 7, of = OF) =>
  deriveUnlockKey({ exportKey: new Uint8Array(64).fill(exportKeyByte), deviceSecret }, of)

const placeOf = (world: World, who: Identity = world.actors.carol) => ({ ...OF, kid: who.kid, phcParams: PHC })
const carolKeys = decodePem(keysFile.keys.carol)
const malloryKeys = decodePem(keysFile.keys.malloryNext)

const sealedBundle = (world: World): Promise<string> => sealPrivateBundle(unlock(), placeOf(world), carolKeys)

/** Dave holds the recovery key; Carol has enrolled with it. */
async function enrolled(world: World) {
  const { carol, dave } = world.actors
  const recovery = { key: dave.key, caps: new Set(['recovery']) }
  return sealForRecovery(unlock(), recovery, carol, world.now)
}

export const keyOf =
  (world: World) =>
  (kid: string): CheckedKey | undefined =>
    Object.values(world.actors as unknown as Record<string, Identity>).find((who) => who.kid === kid)?.key

async function openSeal(world: World, seal: Envelope, enrol: Envelope, by: Identity = world.actors.dave) {
  const verified = verifyRecoverySeal(
    await verifyDocument(recoverySeal, seal, ORG, keyOf(world)),
    await verifyDocument(recoveryEnrol, enrol, ORG, keyOf(world)),
  )
  return openRecoverySeal(verified, by)
}

export const USER_HONEST: readonly Honest[] = [
  {
    id: 'user-honest-unlock',
    theme: 'user keys and recovery',
    title: 'private keys open with passphrase and device, and through recovery if the user enrolled',
    run: async (world) => {
      const text = await sealedBundle(world)
      const { seal, enrol } = await enrolled(world)
      const recovered = await openSeal(world, seal, enrol)
      for (const key of [unlock(), recovered]) await openPrivateBundle(key, placeOf(world), text)
      checkKdf(PHC, { policyKdf: 'argon2id', lastUsed: PHC })
    },
  },
]

const kdf = (id: string, title: string, phc: () => string, lastUsed?: string): Attack => ({
  id: `user-kdf-${id}`,
  row: 17,
  title,
  code: 'kdf_floor',
  run: async () => checkKdf(phc(), { policyKdf: 'argon2id', ...(lastUsed && { lastUsed }) }),
})

export const USER: readonly Attack[] = [
  kdf('memory', 'passphrase stretching with less memory than the floor', () => ARGON(16_384, 3)),
  kdf('passes', 'passphrase stretching with fewer passes than the floor', () => ARGON(65_536, 1)),
  kdf('below-last', 'weaker stretching than this client used last', () => PHC, ARGON(131_072, 3)),
  kdf('fewer-passes-than-last', 'fewer passes than this client used last', () => PHC, ARGON(65_536, 4)),
  kdf('pbkdf2', 'PBKDF2 where the signed policy does not say so', () => `$pbkdf2-sha256$i=600000$${PHC.split('$')[4]}`),
  kdf('legacy', 'an algorithm from the last century', () => `$md5-crypt$rounds=1000$${PHC.split('$')[4]}`),
  {
    id: 'user-bundle-altered',
    row: 20,
    title: 'the private key blob with one bit changed',
    code: 'aead',
    run: async (world) => {
      const text = await sealedBundle(world)
      const at = text.length - 8
      return openPrivateBundle(
        unlock(),
        placeOf(world),
        text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1),
      )
    },
  },
  {
    id: 'user-bundle-of-other-version',
    row: 20,
    title: 'an older private key blob, before the passphrase was changed',
    code: 'aead',
    run: async (world) => {
      const of = { ...OF, bundleVersion: 3 }
      return openPrivateBundle(unlock(7, of), { ...placeOf(world), ...of }, await sealedBundle(world))
    },
  },
  {
    id: 'user-bundle-overwritten',
    row: 20,
    title: 'other private keys under the kid of a user, by somebody who once had her unlock key',
    code: 'key_substitution',
    run: async (world) => {
      const place = placeOf(world)
      const members = { enc: toBase64url(malloryKeys.enc), sig: toBase64url(malloryKeys.sig as Bytes) }
      const aad = lp('vault.v3/user-bundle', ORG, OF.orgUserId, place.kid, OF.bundleVersion, PHC)
      const nonce = new Uint8Array(12)
      const sealed = await platform.aesGcmSeal(bundleKeyBytes(unlock()), nonce, canonical(members), aad)
      return openPrivateBundle(unlock(), place, `vub3.${toBase64url(concat(Uint8Array.of(3, 1), nonce, sealed))}`)
    },
  },
  {
    id: 'user-bundle-legacy',
    row: 18,
    title: 'a private key blob of an older format',
    code: 'alg_downgrade',
    run: async (world) =>
      openPrivateBundle(unlock(), placeOf(world), (await sealedBundle(world)).replace('vub3.', 'vub2.')),
  },
  {
    id: 'user-recovery-to-other-key',
    row: 19,
    title: 'a recovery key that the server names and the directory does not',
    code: 'not_authorised',
    run: async (world) => {
      const { carol, mallory } = world.actors
      return sealForRecovery(unlock(), { key: mallory.key, caps: new Set(['member']) }, carol, world.now)
    },
  },
  {
    id: 'user-recovery-seal-exchanged',
    row: 19,
    title: 'another seal than the one the user enrolled',
    code: 'stale_wrapped_dek',
    run: async (world) => {
      const { enrol } = await enrolled(world)
      const { seal } = await enrolled(world)
      return openSeal(world, seal, enrol)
    },
  },
  {
    id: 'user-recovery-enrolled-by-other',
    row: 19,
    title: 'a seal by one user under the consent of another',
    code: 'wrap_context',
    run: async (world) => {
      const { seal, enrol } = await enrolled(world)
      return openSeal(world, seal, await forge(recoveryEnrol, enrol, {}, world.actors.bob))
    },
  },
  {
    id: 'user-recovery-by-other-admin',
    row: 19,
    title: 'a seal opened with another key than it was made for',
    code: 'wrap_context',
    run: async (world) => {
      const { seal, enrol } = await enrolled(world)
      return openSeal(world, seal, enrol, world.actors.alice)
    },
  },
  {
    id: 'user-recovery-signed-anew',
    row: 19,
    title: 'the seal of a user, signed anew by somebody who wants it opened for himself',
    code: 'wrap_context',
    run: async (world) => {
      const { bob } = world.actors
      const { seal, enrol } = await enrolled(world)
      const stolen = await forge(recoverySeal, seal, {}, bob)
      return openSeal(world, stolen, await forge(recoveryEnrol, enrol, { sealHash: documentHash(stolen) }, bob))
    },
  },
]
