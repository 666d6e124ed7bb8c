// Seen red: purchase, place, sealing, recipient or author left out of the context; the policy not asked; a provisioner whose name is not
// of its key; the purchase, the instance, the place or the fields not compared; the algorithm taken from the message; labels that the
// signed schema does not name.
import { beforeAll, describe, expect, it } from 'vitest'
import { makeDocument, peekDocument } from '../../src/identity/document.ts'
import { decodePem, type Identity, openKeys, type Recipient } from '../../src/identity/private-keys.ts'
import { textValue, valueText } from '../../src/values/field.ts'
import {
  type HandoffExpectation,
  type HandoffPlace,
  handoff,
  openHandoff,
  provisionerOf,
  sealHandoff,
  verifyHandoff,
} from '../../src/wraps/handoff.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { refusal } from '../log/refusal.ts'
import { type Actors, openActors } from '../world/actors.ts'

const PLACE: HandoffPlace = {
  org: 'org_acme',
  purchaseId: 'pur_0001',
  licenseInstanceId: 'lic_0001',
  destination: 'new:Tools',
  sealing: 'at_source',
}
const FIELDS = [
  { label: 'API_KEY', env: true, value: textValue('key/secret.one') },
  { label: 'Seat', env: false, value: textValue('seat 7') },
]
const LABELS = FIELDS.map(({ label, env }) => ({ label, env }))

let actors: Actors
let service: Identity
let other: Identity
let expected: HandoffExpectation

async function provisioner(name: 'dave' | 'mallory'): Promise<Identity> {
  const material = decodePem(keysFile.keys[name])
  const { key } = await openKeys('agent:anybody', material)
  return openKeys(provisionerOf(key.bundle), material)
}
beforeAll(async () => {
  actors = await openActors()
  service = await provisioner('dave')
  other = await provisioner('mallory')
  expected = { ...PLACE, fields: LABELS, provisioners: [service.key.principal] }
})

const named = ({ kid, key }: Identity) => ({ kid, key: key.bundle })
const seal = (place: HandoffPlace = PLACE, to: Identity = actors.deploy, by: Identity = service) =>
  sealHandoff(place, FIELDS, to.key, by, 5)
const read = async (
  envelope: unknown,
  to: Recipient = actors.deploy,
  more: Partial<HandoffExpectation> = {},
  by = named(service),
) => openHandoff(await verifyHandoff(envelope, by, { ...expected, ...more }, to), to)

/** Counts what is done with the private keys, so that nothing is done for what was not verified. */
function counting(who: Identity): { recipient: Recipient; used: string[] } {
  const used: string[] = []
  const rsaDecrypt: Recipient['rsaDecrypt'] = (ciphertext) => {
    used.push('rsa')
    return who.rsaDecrypt(ciphertext)
  }
  const { decapsulate, kid, key } = who
  return { recipient: { kid, key, rsaDecrypt, ...(decapsulate && { decapsulate }) }, used }
}

describe.each(['deploy', 'worker', 'hybrid'] as const)('licence secrets sealed for %s', (name) => {
  it('open to the same fields, for this key alone', async () => {
    const fields = await read(await seal(PLACE, actors[name]), actors[name])
    expect(fields.map(({ label, env, value }) => [label, env, valueText(value)])).toEqual([
      ['API_KEY', true, 'key/secret.one'],
      ['Seat', false, 'seat 7'],
    ])
    const stranger = name === 'deploy' ? actors.bob : actors.deploy
    expect(await refusal(async () => read(await seal(PLACE, actors[name]), stranger))).toBe('wrap_context')
  })

  it('hold no value in the clear', async () => {
    const { payload } = await seal(PLACE, actors[name])
    expect(Buffer.from(payload, 'base64').toString()).not.toContain('secret')
  })
})

it.each([
  ['purchaseId', 'pur_0002'],
  ['licenseInstanceId', 'lic_0002'],
  ['destination', 'new:Others'],
])('is refused for another %s', async (member, value) => {
  const envelope = await seal({ ...PLACE, [member]: value })
  expect(await refusal(() => read(envelope))).toBe('wrap_context')
})

it('is refused with fields that were not bought, before a private key is used', async () => {
  const { recipient, used } = counting(actors.deploy)
  const fields = [{ label: 'API_KEY', env: true }]
  expect(await refusal(async () => read(await seal(), recipient, { fields }))).toBe('wrap_context')
  expect(used).toEqual([])
})

it('is refused by anybody whom the policy does not name, before a private key is used', async () => {
  const { recipient, used } = counting(actors.deploy)
  const forged = await seal(PLACE, actors.deploy, other)
  expect(await refusal(() => read(forged, recipient, {}, named(other)))).toBe('not_authorised')
  expect(await refusal(() => read(forged, recipient))).toBe('unknown_signer')
  expect(used).toEqual([])
})

it('takes no key under the name of another, and no principal that is not named by its key', async () => {
  const swapped = { kid: service.kid, key: other.key.bundle }
  expect(await refusal(async () => read(await seal(), actors.deploy, {}, swapped))).toBe('key_substitution')
  // A member of the organisation whom the policy names by mistake: its next key would be named with it.
  const provisioners = [actors.alice.key.principal]
  const byMember = await seal(PLACE, actors.deploy, actors.alice)
  expect(await refusal(() => read(byMember, actors.deploy, { provisioners }, named(actors.alice)))).toBe(
    'not_authorised',
  )
})

/** The same content with other members, signed by the named provisioner itself. */
async function resigned(change: Record<string, unknown>, to: Identity = actors.deploy) {
  const { payload } = peekDocument(handoff, await seal(PLACE, to))
  const { v: _, t: __, by: ___, ...members } = payload
  return makeDocument(handoff, { ...members, ...change }, [service])
}

it('stays bound to its context when it is signed anew', async () => {
  const { payload } = peekDocument(handoff, await seal({ ...PLACE, purchaseId: 'pur_0009' }))
  const { ct, commit, fields } = payload
  expect(await refusal(async () => read(await resigned({ ct, commit, fields })))).toBe('wrap_context')
  expect(await refusal(async () => read(await resigned({ sealing: 'on_receipt' })))).toBe('wrap_context')
  for (const change of [{ licenseInstanceId: 'lic_0002' }, { destination: 'new:Others' }])
    expect(await refusal(async () => read(await resigned(change), actors.deploy, change))).toBe('wrap_context')
})

it('stays bound to who sealed it and to whom, also between two names of one key', async () => {
  // The same private key under another name opens everything but the context.
  const twin = await openKeys('agent:ag_twin', decodePem(keysFile.keys.deploy))
  expect(await refusal(async () => read(await resigned({ to: twin.kid }), twin))).toBe('wrap_context')
  const { payload } = peekDocument(handoff, await seal())
  const { v: _, t: __, by: ___, ...members } = payload
  const byOther = await makeDocument(handoff, members, [other])
  const provisioners = [service.key.principal, other.key.principal]
  expect(await refusal(() => read(byOther, actors.deploy, { provisioners }, named(other)))).toBe('wrap_context')
})

it('refuses labels that the schema does not name, and values in the place of others', async () => {
  const { payload } = peekDocument(handoff, await seal())
  const [first, second] = payload.fields
  const renamed = [{ ...first, label: 'OTHER' }, second]
  expect(await refusal(async () => read(await resigned({ fields: renamed })))).toBe('wrap_context')
  const exchanged = [
    { ...first, value: second?.value },
    { ...second, value: first?.value },
  ]
  const { commit, ct } = payload
  expect(await refusal(async () => read(await resigned({ commit, ct, fields: exchanged })))).toBe('aead')
})

it('takes no weaker algorithm than the key of the recipient', async () => {
  const { payload } = peekDocument(handoff, await seal(PLACE, actors.deploy))
  const { recipient, used } = counting(actors.hybrid)
  const weaker = await resigned({ alg: 'RSA-OAEP-256', ct: payload.ct, to: actors.hybrid.kid }, actors.deploy)
  expect(await refusal(() => read(weaker, recipient))).toBe('alg_downgrade')
  expect(used).toEqual([])
})
