import { recoveryEnrol } from '../../../src/directory/documents.ts'
import { fromBase64url, toBase64url } from '../../../src/encoding/base64.ts'
import { type VerifiedDocument, verifyDocument } from '../../../src/identity/document.ts'
import { decodePem, type Identity, type Recipient } from '../../../src/identity/private-keys.ts'
import {
  codeBytes,
  type DeviceSecret,
  formatDeviceSecret,
  formatRecoveryCode,
  makeDeviceSecret,
  makeRecoveryCode,
  parseDeviceSecret,
} from '../../../src/user/codes.ts'
import { checkKdf, makeKdf } from '../../../src/user/kdf-floor.ts'
import {
  type BundleKey,
  bundleKeyBytes,
  deriveUnlockKey,
  openPrivateBundle,
  resealPrivateBundle,
  sealPrivateBundle,
} from '../../../src/user/private-bundle.ts'
import {
  openRecoverySeal,
  recoverySeal,
  sealForRecovery,
  type VerifiedRecoverySeal,
  verifyRecoverySeal,
} from '../../../src/user/recovery.ts'
import keysFile from '../../../vectors/keys.json' with { type: 'json' }
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const SECRET = formatDeviceSecret(makeDeviceSecret())
const parse = (change: (text: string) => string) => () => parseDeviceSecret(change(SECRET))
/** The first letter behind the prefix, turned into another one. */
const mistyped = (text: string): string => text.slice(0, 5) + (text[5] === '7' ? '8' : '7') + text.slice(6)

/** Each refusal tells the person what is wrong with what she typed. */
const CODES = [
  extra('code-from-elsewhere', 'malformed', () => codeBytes({ kind: 'device-secret' } as DeviceSecret)),
  extra(
    'code-too-long',
    'limit_exceeded',
    parse((text) => text + ' '.repeat(300)),
  ),
  extra(
    'code-with-other-letters',
    'malformed',
    parse((text) => text.replace('-', '!')),
    'letters and digits only',
  ),
  extra(
    'code-of-other-kind',
    'malformed',
    () => parseDeviceSecret(formatRecoveryCode(makeRecoveryCode())),
    'not a device secret',
  ),
  extra(
    'code-without-prefix',
    'malformed',
    parse((text) => text.replace('SRD1', 'ABC1')),
    'begins with',
  ),
  extra(
    'code-of-other-version',
    'alg_downgrade',
    parse((text) => text.replace('SRD1', 'SRD2')),
  ),
  extra(
    'code-too-short',
    'malformed',
    parse((text) => text.slice(0, -1)),
    'characters after',
  ),
  extra(
    'code-with-u',
    'malformed',
    parse((text) => `${text.slice(0, -1)}U`),
    'never contains the letter U',
  ),
  extra('code-mistyped', 'malformed', parse(mistyped), 'checksum'),
]

const PHC = makeKdf('argon2id').phc
const PBKDF2 = makeKdf('pbkdf2').phc
const argon = (change: (phc: string) => string) => () => checkKdf(change(PHC), { policyKdf: 'argon2id' })
const pbkdf2 = (change: (phc: string) => string, lastUsed?: string) => () =>
  checkKdf(change(PBKDF2), { policyKdf: 'pbkdf2', ...(lastUsed && { lastUsed }) })
const withSalt = (salt: string) => (phc: string) => phc.replace(/[^$]+$/, salt)

const STRETCHING = [
  extra(
    'kdf-too-long',
    'limit_exceeded',
    argon((phc) => phc + 'A'.repeat(300)),
  ),
  extra(
    'kdf-of-no-form',
    'malformed',
    argon(() => 'argon2id'),
  ),
  extra(
    'kdf-argon2id-of-no-form',
    'malformed',
    argon(() => '$argon2id$'),
  ),
  extra(
    'kdf-argon2id-version',
    'kdf_floor',
    argon((phc) => phc.replace('v=19', 'v=16')),
  ),
  extra(
    'kdf-lanes',
    'kdf_floor',
    argon((phc) => phc.replace('p=4', 'p=1')),
  ),
  extra(
    'kdf-pbkdf2-of-no-form',
    'malformed',
    pbkdf2(() => '$pbkdf2-sha256$'),
  ),
  extra('kdf-salt-short', 'kdf_floor', argon(withSalt('AAAA'))),
  extra(
    'kdf-iterations',
    'kdf_floor',
    pbkdf2((phc) => phc.replace('i=600000', 'i=1000')),
  ),
  extra('kdf-salt-long', 'limit_exceeded', argon(withSalt('A'.repeat(88)))),
  extra(
    'kdf-memory-high',
    'limit_exceeded',
    argon((phc) => phc.replace('m=65536', 'm=1048577')),
  ),
  extra(
    'kdf-work-high',
    'limit_exceeded',
    argon((phc) => phc.replace('t=3', 't=100')),
  ),
  extra(
    'kdf-iterations-high',
    'limit_exceeded',
    pbkdf2((phc) => phc.replace('i=600000', 'i=20000000')),
  ),
  extra(
    'kdf-iterations-below-last',
    'kdf_floor',
    pbkdf2((phc) => phc, PBKDF2.replace('i=600000', 'i=700000')),
  ),
]

const OF = { org: ORG, orgUserId: 'ou_carol', bundleVersion: 2 }
const unlock = (of = OF, exportKey = new Uint8Array(64)) =>
  deriveUnlockKey({ exportKey, deviceSecret: parseDeviceSecret(SECRET) }, of)
const carol = decodePem(keysFile.keys.carol)
const placeOf = async (open: () => Promise<World>, of = OF) => ({
  ...of,
  kid: (await open()).actors.carol.kid,
  phcParams: PHC,
})
const sealed = async (open: () => Promise<World>) => sealPrivateBundle(unlock(), await placeOf(open), carol)

const BUNDLES = [
  extra('bundle-key-from-elsewhere', 'unwrapped_key_missing', () => bundleKeyBytes({} as BundleKey<'unlock'>)),
  extra('export-key-of-other-length', 'malformed', () => unlock(OF, new Uint8Array(10))),
  extra('bundle-under-key-of-other-version', 'wrap_context', async (open) =>
    sealPrivateBundle(unlock({ ...OF, bundleVersion: 3 }), await placeOf(open), carol),
  ),
  extra('bundle-too-large', 'limit_exceeded', async (open) =>
    openPrivateBundle(unlock(), await placeOf(open), `vub3.${'A'.repeat(20_000)}`),
  ),
  extra('bundle-too-short', 'malformed', async (open) =>
    openPrivateBundle(unlock(), await placeOf(open), 'vub3.AwEAAAA'),
  ),
  extra('bundle-of-other-suite', 'alg_downgrade', async (open) => {
    const bytes = fromBase64url((await sealed(open)).slice('vub3.'.length))
    bytes[1] = 2
    return openPrivateBundle(unlock(), await placeOf(open), `vub3.${toBase64url(bytes)}`)
  }),
  extra('bundle-resealed-as-older', 'wrap_context', async (open) => {
    const place = await placeOf(open)
    return resealPrivateBundle({ key: unlock(), place, text: await sealed(open) }, { key: unlock(), place })
  }),
]

async function enrolled(world: World, by: Identity = world.actors.carol, of = OF, to: 'dave' | 'hybrid' = 'dave') {
  const made = await sealForRecovery(unlock(of), { key: world.actors[to].key, caps: new Set(['recovery']) }, by, 1)
  const keyOf = () => by.key
  return {
    seal: await verifyDocument(recoverySeal, made.seal, ORG, keyOf),
    enrol: await verifyDocument(recoveryEnrol, made.enrol, ORG, keyOf),
  }
}

type Seal = VerifiedDocument<typeof recoverySeal>
type Enrol = VerifiedDocument<typeof recoveryEnrol>
const untouchable = (recipient: Recipient): Recipient => ({
  ...recipient,
  rsaDecrypt: () => {
    throw new Error('used a private key')
  },
})

/** The seal of an honest enrolment, altered behind the back of its signature. */
const altered =
  (change: (payload: Seal['payload']) => object, to: 'dave' | 'hybrid' = 'dave', open: 'dave' | 'hybrid' = to) =>
  async (world: () => Promise<World>) => {
    const { actors, ...rest } = await world()
    const { seal } = await enrolled({ actors, ...rest } as World, actors.carol, OF, to)
    const payload = { ...seal.payload, ...change(seal.payload) }
    return openRecoverySeal({ payload } as VerifiedRecoverySeal, actors[open])
  }

const RECOVERY = [
  extra('recovery-by-somebody-else', 'not_authorised', async (open) => {
    const world = await open()
    return enrolled(world, world.actors.bob)
  }),
  extra('recovery-of-other-organisation', 'wrap_context', async (open) => {
    const { seal, enrol } = await enrolled(await open())
    return verifyRecoverySeal(seal, { ...enrol, payload: { ...enrol.payload, org: 'org_other' } } as Enrol)
  }),
  extra('recovery-for-other-key', 'wrap_context', async (open) => {
    const { seal, enrol } = await enrolled(await open())
    return verifyRecoverySeal(seal, { ...enrol, payload: { ...enrol.payload, recoveryKid: enrol.payload.by } } as Enrol)
  }),
  extra('recovery-of-agent', 'not_authorised', async (open) => {
    const { seal, enrol } = await enrolled(await open())
    const by = seal.payload.by.replace('user:', 'agent:')
    const as = <T extends Seal | Enrol>(one: T): T => ({ ...one, payload: { ...one.payload, by } })
    return verifyRecoverySeal(as(seal), as(enrol))
  }),
  extra('recovery-opened-by-other', 'wrap_context', async (open) => {
    const world = await open()
    const { seal, enrol } = await enrolled(world)
    return openRecoverySeal(verifyRecoverySeal(seal, enrol), untouchable(world.actors.alice))
  }),
  extra(
    'recovery-of-nothing',
    'wrap_context',
    altered(() => ({ ct: toBase64url(new Uint8Array(256).fill(7)) })),
  ),
  extra(
    'recovery-of-other-algorithm',
    'alg_downgrade',
    altered(() => ({ alg: 'RSA-OAEP-256+ML-KEM-768' })),
  ),
  extra(
    'recovery-halved',
    'malformed',
    altered(() => ({ ct2: undefined }), 'hybrid'),
  ),
]

export const USER_CASES = [...CODES, ...STRETCHING, ...BUNDLES, ...RECOVERY]
