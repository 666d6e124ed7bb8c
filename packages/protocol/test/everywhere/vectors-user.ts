import { type Cap, invite, recoveryEnrol } from '../../src/directory/documents.ts'
import {
  acceptInvite,
  endorseAcceptance,
  makeInvite,
  parseInviteLink,
  verifyAcceptance,
} from '../../src/directory/invite.ts'
import { fromHex, toHex } from '../../src/encoding/bytes.ts'
import { type Envelope, type KeyOf, verifyDocument } from '../../src/identity/document.ts'
import { checkKey, type KeyBundle } from '../../src/identity/key-bundle.ts'
import { decodePem } from '../../src/identity/private-keys.ts'
import { formatTrustAnchor, parseTrustAnchor, type TrustAnchor } from '../../src/trust/anchor.ts'
import {
  codeBytes,
  formatDeviceSecret,
  formatRecoveryCode,
  makeDeviceSecret,
  makeRecoveryCode,
  parseDeviceSecret,
  parseRecoveryCode,
} from '../../src/user/codes.ts'
import { checkKdf, type KdfRule } from '../../src/user/kdf-floor.ts'
import {
  type BundleVersion,
  bundleKeyBytes,
  deriveUnlockKey,
  openPrivateBundle,
  sealPrivateBundle,
  type UnlockKey,
} from '../../src/user/private-bundle.ts'
import { deriveRecoveryCodeKey, openRecoverySeal, recoverySeal, verifyRecoverySeal } from '../../src/user/recovery.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import type { KeyName } from '../world/actors.ts'
import { drawing, identityFor, type KeyReference, type Operations } from './vectors-notation.ts'

// Sections 4.6, 8 and 9.2.

export const anchorOperations: Operations = {
  format: ({ anchor }: { anchor: TrustAnchor }) => ({ text: formatTrustAnchor(anchor) }),
  parse: ({ text }: { text: string }) => ({ anchor: parseTrustAnchor(text) }),
}

type CodeKind = 'device' | 'recovery'

export const codeOperations: Operations = {
  format: ({ kind, bytes }: { kind: CodeKind; bytes: string }) =>
    drawing([fromHex(bytes)], async () => ({
      text: kind === 'device' ? formatDeviceSecret(makeDeviceSecret()) : formatRecoveryCode(makeRecoveryCode()),
    })),
  parse: ({ kind, typed }: { kind: CodeKind; typed: string }) => ({
    bytes: toHex(codeBytes(kind === 'device' ? parseDeviceSecret(typed) : parseRecoveryCode(typed))),
  }),
}

export const kdfOperations: Operations = {
  check: ({ phc, ...rule }: KdfRule & { phc: string }) => {
    const checked = checkKdf(phc, rule)
    const salt = toHex(checked.salt)
    return checked.algorithm === 'argon2id'
      ? { algorithm: checked.algorithm, memoryKib: checked.memoryKib, passes: checked.passes, salt }
      : { algorithm: checked.algorithm, iterations: checked.iterations, salt }
  },
}

interface Unlocking {
  readonly exportKey: string
  readonly deviceSecret: string
}
interface PlaceText extends BundleVersion {
  readonly kid: string
  readonly phcParams: string
}
interface Opening extends Unlocking {
  readonly place: PlaceText
  readonly text: string
}

const unlockKeyOf = ({ exportKey, deviceSecret }: Unlocking, of: BundleVersion): UnlockKey =>
  deriveUnlockKey({ exportKey: fromHex(exportKey), deviceSecret: parseDeviceSecret(deviceSecret) }, of)
const placeOf = (place: PlaceText) => ({
  ...place,
  phcParams: checkKdf(place.phcParams, { policyKdf: 'argon2id' }).phc,
})

export const userBundleOperations: Operations = {
  'unlock-key': (input: Unlocking & BundleVersion) => ({ key: toHex(bundleKeyBytes(unlockKeyOf(input, input))) }),
  'recovery-key': ({ recoveryCode, ...of }: BundleVersion & { recoveryCode: string }) => ({
    key: toHex(bundleKeyBytes(deriveRecoveryCodeKey(parseRecoveryCode(recoveryCode), of))),
  }),
  seal: (input: Opening & { material: KeyName; nonce: string; keyOf?: BundleVersion }) => {
    const key = unlockKeyOf(input, input.keyOf ?? input.place)
    return drawing([fromHex(input.nonce)], async () => ({
      text: await sealPrivateBundle(key, placeOf(input.place), decodePem(keysFile.keys[input.material])),
    }))
  },
  open: async (input: Opening) => {
    const { kid } = await openPrivateBundle(unlockKeyOf(input, input.place), placeOf(input.place), input.text)
    return { kid }
  },
  'open-copy': async ({ recoveryCode, place, text }: Opening & { recoveryCode: string }) => {
    const key = deriveRecoveryCodeKey(parseRecoveryCode(recoveryCode), place)
    const { kid } = await openPrivateBundle(key, { ...place, phcParams: '' }, text)
    return { kid }
  },
}

interface GivenKeys {
  readonly org: string
  readonly keys: readonly { readonly kid: string; readonly key: KeyBundle }[]
}
const keyOfGiven = ({ keys }: GivenKeys): KeyOf => {
  const table = new Map(keys.map(({ kid, key }) => [kid, checkKey(kid, key)]))
  return (kid) => table.get(kid)
}

interface MakeInviteInput {
  readonly by: KeyReference
  readonly terms: { org: string; genesis: string; caps: readonly Cap[]; expires: number; note: string; at: number }
  readonly idBytes: string
  readonly secret: string
}
interface AcceptInput {
  readonly link: string
  readonly invite: unknown
  readonly who: KeyReference
  readonly at: number
}
interface VerifyInput {
  readonly invite: unknown
  readonly candidate: unknown
  readonly now: number
  readonly known?: readonly string[]
  readonly endorse?: KeyReference
}

export const inviteOperations: Operations = {
  make: async ({ by, terms, idBytes, secret }: MakeInviteInput) => {
    const signer = await identityFor(by)
    return drawing([fromHex(idBytes), fromHex(secret)], () => makeInvite(terms, signer))
  },
  link: ({ link }: { link: string }) => ({ ...parseInviteLink(link) }),
  accept: async ({ link, invite: promised, who, at }: AcceptInput) => ({
    envelope: await acceptInvite(parseInviteLink(link), promised, await identityFor(who), at),
  }),
  verify: async (input: VerifyInput, given: GivenKeys) => {
    const promised = await verifyDocument(invite, input.invite, given.org, keyOfGiven(given))
    const isKnown = (principal: string) => input.known?.includes(principal) ?? false
    const acceptance = await verifyAcceptance({ invite: promised, candidate: input.candidate, now: input.now, isKnown })
    if (!input.endorse) return { kid: acceptance.payload.kid }
    return { envelope: await endorseAcceptance(acceptance, await identityFor(input.endorse)) }
  },
}

interface SealInput {
  readonly seal: Envelope
  readonly enrol: Envelope
  readonly recipient: KeyReference
}

export const recoverySealOperations: Operations = {
  open: async ({ seal, enrol, recipient }: SealInput, given: GivenKeys) => {
    const keyOf = keyOfGiven(given)
    const verified = verifyRecoverySeal(
      await verifyDocument(recoverySeal, seal, given.org, keyOf),
      await verifyDocument(recoveryEnrol, enrol, given.org, keyOf),
    )
    const key = await openRecoverySeal(verified, await identityFor(recipient))
    const { org, orgUserId, bundleVersion } = key
    return { org, orgUserId, bundleVersion, key: toHex(bundleKeyBytes(key)) }
  },
}
