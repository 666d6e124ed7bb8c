import {
  addSignatures,
  deriveKeyId,
  documentHash,
  draftDocument,
  keyAdd,
  kidName,
  principalOf,
  vaultName,
} from '@strongroom/protocol'
import {
  asDocument,
  asEnvelope,
  type DirectoryBody,
  type EnvironmentBody,
  type Signed,
  sizeOf,
  stateIn,
} from '../answers.ts'
import { type Attack, changing, DIRECTORY, ENV, need, type Power } from '../attack.ts'
import { bundleWith, payloadOf, rewrite, unendorsed, WEAK } from '../forgery.ts'
import { kidEntry, logFalsely, logHead } from '../log.ts'
import {
  authorOf,
  founderOf,
  introduce,
  olderThan,
  orgOf,
  otherVault,
  outsiderIn,
  recordIn,
  writerIn,
} from '../material.ts'

// Directory and keys, rows 1 to 12.

/** A key under the name of whoever wrote the head, which no admin endorsed. */
async function intruder(power: Power, signed: Signed) {
  const identity = await power.keysAs(principalOf(authorOf(signed.head)))
  const record = await unendorsed(orgOf(signed), identity, founderOf(signed))
  return { identity, record }
}

/** The head once more, with the name of another signer beside the signature. */
const keyNamedInHead =
  (name: (kid: string) => string) =>
  ({ signed }: EnvironmentBody): void => {
    for (const signature of signed.head.signatures) signature.keyid = name(signature.keyid)
  }

const cyrillic = (kid: string): string =>
  kid.replace(/[aeo]/, (letter) => ({ a: '\u0430', e: '\u0435', o: '\u043e' })[letter] ?? letter)
const shouted = (kid: string): string => kid.slice(0, -1) + kid.slice(-1).toUpperCase().replace(/[2-7]/, 'A')

const MALFORMED: Readonly<Record<string, (kid: string) => string>> = {
  short: () => 'user:x',
  'extra-colon': (kid) => kid.replace(':', '::'),
  'look-alike': cyrillic,
  case: shouted,
}

/** An unfit key that certifies itself, logged as the author of the newest head. */
async function logUnfit(power: Power, { signed }: EnvironmentBody, key: ReturnType<typeof bundleWith>): Promise<void> {
  const signer = await power.keysAs(principalOf(authorOf(signed.head)))
  const kid = `${principalOf(authorOf(signed.head))}:${deriveKeyId(key)}` as typeof signer.kid
  const unfit = { ...signer, kid }
  const draft = draftDocument(keyAdd, {
    org: orgOf(signed),
    at: Date.now(),
    by: founderOf(signed),
    kid,
    key,
    caps: ['member'],
  })
  const record = await addSignatures(draft, [unfit])
  const entry = kidEntry(kid, record, sizeOf(signed.transparency.checkpoint))
  signed.records.push(asDocument(record))
  await logHead(power, signed, unfit, { [kidName(kid)]: entry }, [record])
}

export const DIRECTORY_ATTACKS: readonly Attack[] = [
  changing<EnvironmentBody>(
    ENV,
    [
      '1',
      'extra-signer',
      'a head by a key of the attacker, with a registration that no admin signed',
      'SIGNER_UNTRUSTED',
      'unknown_signer',
    ],
    async ({ signed }, power) => {
      const { identity, record } = await intruder(power, signed)
      signed.records.push(asDocument(record))
      const draft = { ...asEnvelope(signed.head), signatures: [] }
      signed.head = asDocument(await addSignatures(draft, [identity]))
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['1', 'extra-signer-logged', 'the same, and the log takes key and head', 'SIGNER_UNTRUSTED', 'missing_signature'],
    async ({ signed }, power) => {
      const { identity, record } = await intruder(power, signed)
      signed.records.push(asDocument(record))
      const entry = kidEntry(identity.kid, record, sizeOf(signed.transparency.checkpoint))
      await logHead(power, signed, identity, { [kidName(identity.kid)]: entry }, [record])
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '2',
      'signer-key-replaced',
      'another public key under the key id of a signer',
      'SIGNER_KEY_CHANGED',
      'key_substitution',
    ],
    async ({ signed }, power) => {
      const record = recordIn(signed)
      const kid = String(payloadOf(record).kid)
      const { key } = await power.keysAs(principalOf(kid))
      rewrite(record, { key: key.bundle })
      const name = kidName(kid)
      const entry = need(stateIn(signed.transparency, name), 'an answer that proves its signers')
      const states = { [name]: { ...entry, rec: documentHash(asEnvelope(record)) } }
      await logFalsely(power, signed.transparency, { docs: [asEnvelope(record)], states })
    },
    { second: true },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['3', 'signer-id-changed', 'the key of a signer under another key id', 'SIGNER_ID_MISMATCH', 'key_substitution'],
    async ({ signed }, power) => {
      const record = structuredClone(recordIn(signed))
      const old = String(payloadOf(record).kid)
      const kid = `${principalOf(old)}:${'a'.repeat(32)}`
      rewrite(record, { kid })
      signed.records.push(record)
      const entry = kidEntry(kid, asEnvelope(record), sizeOf(signed.transparency.checkpoint))
      await logFalsely(power, signed.transparency, { docs: [asEnvelope(record)], states: { [kidName(kid)]: entry } })
      for (const signature of signed.head.signatures) signature.keyid = kid
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '4',
      'signer-named-otherwise',
      'the signature of one member under the name of another',
      'SIGNER_SCOPE',
      'bad_signature',
    ],
    ({ signed }) => {
      const author = authorOf(signed.head)
      const founder = founderOf(signed)
      const other = author === founder ? String(payloadOf(recordIn(signed)).kid) : founder
      keyNamedInHead(() => other)({ signed } as EnvironmentBody)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '4',
      'signer-of-elsewhere',
      'a head by a member of the organisation who has no right in this vault, and the log takes it',
      'SIGNER_SCOPE',
      'not_authorised',
    ],
    async ({ signed }, power) => {
      const { identity } = outsiderIn(power, signed)
      await introduce(power, signed, identity.kid)
      await logHead(power, signed, identity)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['5', 'signer-withheld', 'the registration of a signer left out', 'SIGNER_MISSING', 'unknown_signer'],
    ({ signed }) => {
      const gone = recordIn(signed)
      signed.records = signed.records.filter((record) => record !== gone)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '6',
      'signer-revoked',
      'a head by a writer whose key was revoked before, and the log takes it',
      'SIGNER_REVOKED',
      'signer_not_active',
    ],
    async ({ signed }, power) => {
      const { identity } = writerIn(power, signed)
      const index = sizeOf(signed.transparency.checkpoint)
      const entry = await introduce(power, signed, identity.kid)
      const states = { [kidName(identity.kid)]: { ...entry, status: 'removed', end: index } }
      await logHead(power, signed, identity, states)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['6', 'signer-revived', 'the entry of a key, changed from what the log proves', 'SIGNER_REVOKED', 'bad_map_proof'],
    ({ signed }) => {
      const entry = need(
        signed.transparency.map.find(({ name, state }) => name.startsWith('kid/') && state),
        'an answer that proves its signers',
      )
      const ended = entry.state?.end !== null
      entry.state = { ...entry.state, status: ended ? 'active' : 'superseded', end: ended ? null : 1 }
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      '7',
      'directory-of-other-vault',
      'creation, admins and access list of another vault',
      'DIRECTORY_SCOPE',
      'vault_swap',
    ],
    ({ signed, ...rest }, power) => {
      const { create, adminsChain, acl } = otherVault({ signed, ...rest } as EnvironmentBody, power, ENV).signed
      Object.assign(signed, { create, adminsChain, acl })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['7', 'signed-part-of-other-vault', 'everything signed of another vault', 'DIRECTORY_SCOPE', 'bad_map_proof'],
    (body, power) => {
      const { signed } = otherVault(body, power, ENV)
      const { transparency } = body.signed
      // With the newest log, so that nothing else is wrong with it.
      const map = transparency.map.filter(({ name }) => name !== vaultName(body.signed.vaultId))
      body.signed = { ...signed, vaultId: body.signed.vaultId, transparency: { ...transparency, map } }
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['8', 'older-directory', 'the signed part as it was before', 'DIRECTORY_ROLLBACK', 'log_rollback'],
    (body, power) => {
      body.signed = olderThan(body, power, ENV).signed
    },
    { second: true },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['9', 'empty-directory', 'no signers at all', 'DIRECTORY_EMPTY', 'unknown_signer'],
    ({ signed }) => {
      recordIn(signed)
      signed.records = []
    },
  ),
  ...Object.entries(MALFORMED).map(([form, name]) =>
    changing<EnvironmentBody>(
      ENV,
      ['10', `key-id-${form}`, `a malformed key id on the head: ${form}`, 'KEY_ID_INVALID', 'unknown_signer'],
      keyNamedInHead(name),
    ),
  ),
  ...Object.entries(MALFORMED).map(([form, name]) =>
    changing<DirectoryBody>(
      DIRECTORY,
      [
        '10',
        `recipient-id-${form}`,
        `a malformed key id among those a vault key is wrapped for: ${form}`,
        'KEY_ID_INVALID',
        'malformed',
      ],
      (body) => {
        body.kids = body.kids.map(name)
      },
    ),
  ),
  ...Object.entries(WEAK).map(([form, spki]) =>
    changing<EnvironmentBody>(
      ENV,
      [
        '11',
        `weak-key-${form.replaceAll(' ', '-').toLowerCase()}`,
        `a signer with a weak RSA key: ${form}`,
        'KEY_WEAK',
        'weak_key',
      ],
      (body, power) => logUnfit(power, body, bundleWith(spki())),
    ),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['12', 'key-of-other-type', 'a signer whose key is of another type than it says', 'KEY_TYPE', 'weak_key'],
    async (body, power) => {
      const { bundle } = (await power.keysAs('user:somebody')).key
      await logUnfit(power, body, { ...bundle, sig: bundle.enc })
    },
  ),
]
