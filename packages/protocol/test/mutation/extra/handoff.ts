import { makeDocument, peekDocument } from '../../../src/identity/document.ts'
import type { Identity } from '../../../src/identity/private-keys.ts'
import { textValue } from '../../../src/values/field.ts'
import {
  type HandoffExpectation,
  type HandoffPlace,
  handoff,
  openHandoff,
  provisionerOf,
  sealHandoff,
  verifyHandoff,
} from '../../../src/wraps/handoff.ts'
import { identityOf, type KeyName } from '../../world/actors.ts'
import { ORG } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const PLACE: HandoffPlace = {
  org: ORG,
  purchaseId: 'pur_0001',
  licenseInstanceId: 'lic_0001',
  destination: 'new:Tools',
  sealing: 'at_source',
}
const FIELDS = [{ label: 'API_KEY', env: true, value: textValue('key/secret.one') }]

async function provisioner(name: KeyName): Promise<Identity> {
  const { key } = await identityOf(name, 'agent:anybody')
  return identityOf(name, provisionerOf(key.bundle))
}

interface Handed {
  /** Who sealed and signed it; the policy names dave. */
  readonly by?: KeyName
  /** Whom the policy names. */
  readonly named?: KeyName
  readonly place?: Partial<HandoffPlace>
  /** Signed with these members instead of what was sealed. */
  readonly members?: object
  /** Who takes it; it was sealed for deploy. */
  readonly taker?: KeyName
  readonly expected?: Partial<HandoffExpectation>
}

async function verified({ by = 'dave', named = 'dave', place, members, taker = 'deploy', expected }: Handed = {}) {
  const [service, policy, recipient, deploy] = await Promise.all([
    provisioner(by),
    provisioner(named),
    identityOf(taker, 'agent:ag_deploy'),
    identityOf('deploy', 'agent:ag_deploy'),
  ])
  const sealed = await sealHandoff({ ...PLACE, ...place }, FIELDS, deploy.key, service, 5)
  const { v: _, t: __, by: ___, ...own } = peekDocument(handoff, sealed).payload
  const envelope = members ? await makeDocument(handoff, { ...own, ...members }, [service]) : sealed
  const provisioners = [policy.key.principal]
  const whole = { ...PLACE, fields: FIELDS, provisioners, ...expected }
  return verifyHandoff(envelope, { kid: service.kid, key: service.key.bundle }, whole, recipient)
}

const opened = async (members: object) =>
  openHandoff(await verified({ members }), await identityOf('deploy', 'agent:ag_deploy'))

/** Section 6.3, what a licence brings: all but the two that open it are refused before a private key is used. */
export const HANDOFF_CASES = [
  extra('handoff-by-unnamed-provisioner', 'not_authorised', () => verified({ by: 'mallory' })),
  extra('handoff-by-rsa-provisioner', 'weak_key', () => verified({ by: 'worker', named: 'worker' })),
  extra('handoff-of-other-purchase', 'wrap_context', () => verified({ place: { purchaseId: 'pur_0002' } })),
  extra('handoff-taken-by-other', 'wrap_context', () => verified({ taker: 'deployNext' })),
  extra('handoff-with-other-fields', 'wrap_context', () =>
    verified({ expected: { fields: [{ label: 'SEAT', env: true }] } }),
  ),
  extra('handoff-that-does-not-open', 'wrap_context', () => opened({ ct: 'A'.repeat(342) }), 'does not open'),
  extra('handoff-of-other-context', 'wrap_context', () => opened({ sealing: 'on_receipt' }), 'another context'),
  extra(
    'handoff-opened-by-other',
    'wrap_context',
    async () => openHandoff(await verified(), await identityOf('deployNext', 'agent:ag_deploy')),
    'for another recipient',
  ),
]
