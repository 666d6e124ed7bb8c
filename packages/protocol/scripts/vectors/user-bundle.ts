import type { ProtocolErrorCode } from '../../src/errors.ts'
import { decodePem } from '../../src/identity/private-keys.ts'
import { identityOf, type KeyName } from '../../test/world/actors.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { argon, codeOf, DEVICE, DEVICE_BYTES, PHC, RECOVERY, RECOVERY_BYTES } from './codes.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { aesGcm, base64url, hex, hkdf, lp, utf8 } from './reference.ts'

// Section 8: a user's private keys, sealed.

interface Place {
  readonly org: string
  readonly orgUserId: string
  readonly kid: string
  readonly bundleVersion: number
  readonly phcParams: string
}

const EXPORT = '07'.repeat(64)
const OF = { org: 'org_acme', orgUserId: 'ou_alice', bundleVersion: 3 }
const unlockKey = (of: typeof OF, exportKey = EXPORT): Buffer =>
  hkdf(
    Buffer.concat([Buffer.from(exportKey, 'hex'), DEVICE_BYTES]),
    lp('vault.v3/unlock', of.org, of.orgUserId, of.bundleVersion),
    32,
  )
const recoveryKey = (of: typeof OF): Buffer =>
  hkdf(RECOVERY_BYTES, lp('vault.v3/recovery', of.org, of.orgUserId, of.bundleVersion), 32)

const aadOf = ({ org, orgUserId, kid, bundleVersion, phcParams }: Place): Buffer =>
  lp('vault.v3/user-bundle', org, orgUserId, kid, bundleVersion, phcParams)
const NONCE = '0c'.repeat(12)

function sealText(key: Uint8Array, place: Place, members: object): string {
  const sealed = aesGcm(key, Buffer.from(NONCE, 'hex'), utf8(JSON.stringify(members)), aadOf(place))
  return `vub3.${base64url(Buffer.concat([Buffer.of(3, 1), Buffer.from(NONCE, 'hex'), sealed]))}`
}

/** In the order of their names, as canonical JSON has them. */
function materialOf(name: KeyName): object {
  const { enc, kem, sig } = decodePem(keysFile.keys[name])
  return { enc: base64url(enc), ...(kem && { kem: base64url(kem) }), ...(sig && { sig: base64url(sig) }) }
}

const keyCases = (): VectorCase[] => [
  accepts(
    'unlock-key',
    'an export key of 64 bytes',
    { exportKey: EXPORT, deviceSecret: DEVICE, ...OF },
    { key: hex(unlockKey(OF)) },
  ),
  accepts(
    'unlock-key',
    'an export key of 32 bytes',
    { exportKey: '07'.repeat(32), deviceSecret: DEVICE, ...OF },
    { key: hex(unlockKey(OF, '07'.repeat(32))) },
  ),
  accepts(
    'unlock-key',
    'another version',
    { exportKey: EXPORT, deviceSecret: DEVICE, ...OF, bundleVersion: 65_537 },
    { key: hex(unlockKey({ ...OF, bundleVersion: 65_537 })) },
  ),
  refuses('unlock-key', 'an export key of 48 bytes', 'malformed', {
    exportKey: '07'.repeat(48),
    deviceSecret: DEVICE,
    ...OF,
  }),
  accepts('recovery-key', 'a recovery code', { recoveryCode: RECOVERY, ...OF }, { key: hex(recoveryKey(OF)) }),
]

const PASSPHRASE = { exportKey: EXPORT, deviceSecret: DEVICE }

interface Desk {
  readonly kid: string
  readonly hybridKid: string
  readonly place: Place
  readonly opening: typeof PASSPHRASE & { readonly place: Place; readonly text: string }
}

async function openDesk(): Promise<Desk> {
  const { kid } = await identityOf('alice', 'user:ou_alice')
  const { kid: hybridKid } = await identityOf('hybrid', 'user:ou_alice')
  const place: Place = { ...OF, kid, phcParams: PHC }
  const text = sealText(unlockKey(OF), place, materialOf('alice'))
  return { kid, hybridKid, place, opening: { ...PASSPHRASE, place, text } }
}

const copyOf = (place: Place): { place: Place; text: string } => {
  const copy = { ...place, phcParams: '' }
  return { place: copy, text: sealText(recoveryKey(OF), copy, materialOf('alice')) }
}

function sealCases({ kid, hybridKid, place, opening }: Desk): VectorCase[] {
  const sealing = { ...PASSPHRASE, place, material: 'alice', nonce: NONCE }
  const other = { ...OF, bundleVersion: 4 }
  const hybrid = { ...place, kid: hybridKid }
  const hybridText = sealText(unlockKey(OF), hybrid, materialOf('hybrid'))
  return [
    accepts('seal', 'Ed25519 and RSA', sealing, { text: opening.text }),
    refuses('seal', 'the keys of somebody else', 'key_substitution', { ...sealing, material: 'bob' }),
    refuses('seal', 'a key of another version', 'wrap_context', { ...sealing, keyOf: other }),
    accepts('open', 'Ed25519 and RSA', opening, { kid }),
    accepts('open', 'with ML-KEM', { ...opening, place: hybrid, text: hybridText }, { kid: hybridKid }),
    accepts('open-copy', 'by recovery code', { recoveryCode: RECOVERY, ...copyOf(place) }, { kid }),
  ]
}

function placeCases({ hybridKid, place, opening }: Desk): VectorCase[] {
  const no = (name: string, code: ProtocolErrorCode, change: object): VectorCase =>
    refuses('open', name, code, { ...opening, ...change })
  const at = (name: string, change: Partial<Place>) => no(name, 'aead', { place: { ...place, ...change } })
  const inside = (members: object) => ({ text: sealText(unlockKey(OF), place, members) })
  const { enc } = materialOf('bob') as { enc: string }
  return [
    at('another organisation', { org: 'org_acmf' }),
    at('another version', { bundleVersion: 4 }),
    at('another key id', { kid: hybridKid }),
    at('other parameters of stretching', { phcParams: argon(131_072, 3) }),
    no('parameters below the floor', 'kdf_floor', { place: { ...place, phcParams: argon(1024, 1) } }),
    no('another passphrase', 'aead', { exportKey: '08'.repeat(64) }),
    no('another device', 'aead', { deviceSecret: codeOf('SRD1', Buffer.alloc(16, 1)) }),
    no('the keys of somebody else, sealed with the right key', 'key_substitution', inside(materialOf('bob'))),
    no('the RSA key of somebody else inside', 'key_substitution', inside({ ...materialOf('alice'), enc })),
    no('a member too many', 'malformed', inside({ ...materialOf('alice'), use: '' })),
    no('a key that is no key', 'malformed', inside({ ...materialOf('alice'), enc: 'AAAA' })),
    no('the recovery copy under the passphrase', 'aead', { text: copyOf(place).text }),
  ]
}

function textCases({ opening }: Desk): VectorCase[] {
  const bytes = Buffer.from(opening.text.slice(5), 'base64url')
  const no = (name: string, code: ProtocolErrorCode, changed: Uint8Array): VectorCase =>
    refuses('open', name, code, { ...opening, text: `vub3.${base64url(changed)}` })
  const byte = (at: number, value: number): Buffer => Buffer.from(bytes).fill(value, at, at + 1)
  const flip = (at: number): Buffer => byte(at, (bytes[at] as number) ^ 1)
  return [
    no('a nonce changed', 'aead', flip(3)),
    no('a ciphertext changed', 'aead', flip(20)),
    no('a tag changed', 'aead', flip(bytes.length - 1)),
    no('a byte cut off', 'aead', bytes.subarray(0, -1)),
    no('a header alone', 'malformed', bytes.subarray(0, 30)),
    no('another version of the format', 'alg_downgrade', byte(0, 2)),
    no('another suite', 'alg_downgrade', byte(1, 2)),
    refuses('open', 'another prefix', 'alg_downgrade', { ...opening, text: opening.text.replace('vub3', 'vub2') }),
  ]
}

export async function makeUserBundle(): Promise<VectorFile> {
  const desk = await openDesk()
  return {
    vectors: 'user-bundle',
    section: '8',
    comment:
      'A user’s private keys (keys.json), sealed under the key that passphrase and device secret, or the recovery code, give. The text is what the server keeps.',
    cases: [...keyCases(), ...sealCases(desk), ...placeCases(desk), ...textCases(desk)],
  }
}
