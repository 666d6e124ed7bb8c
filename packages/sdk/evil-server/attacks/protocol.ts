import { documentHash, type JsonObject, POLICY_NAME, vaultName } from '@strongroom/protocol'
import { asEnvelope, type EnvironmentBody, type ProjectEnvironmentBody, stateIn } from '../answers.ts'
import { type Attack, changing, ENV, need, PROJECT } from '../attack.ts'
import { payloadOf, rewrite } from '../forgery.ts'
import { logFalsely } from '../log.ts'
import { olderThan } from '../material.ts'

// Rows of docs/reference/protocol.md 10 that concern a reader and that no row of the table has.

type Entry = { p: string; role: string }
const entriesOf = (acl: JsonObject): Entry[] => acl as unknown as Entry[]
const withReader = (acl: unknown, p: string): Entry[] =>
  [...entriesOf(acl as JsonObject), { p, role: 'read' }].sort((a, b) => (a.p < b.p ? -1 : 1))

export const PROTOCOL_ATTACKS: readonly Attack[] = [
  changing<EnvironmentBody>(
    ENV,
    ['P5', 'policy-withheld', 'the policy of the organisation left out of what is proven', 'STATE', 'bad_map_proof'],
    ({ signed: { transparency } }) => {
      transparency.map = transparency.map.filter(({ name }) => name !== POLICY_NAME)
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P5', 'policy-erased', 'a leaf of the log after which there is no policy any more', 'STATE', 'bad_map_proof'],
    async ({ signed: { vaultId, transparency } }, power) => {
      const name = vaultName(vaultId)
      const state = need(stateIn(transparency, name), 'an answer that proves the vault')
      transparency.map = transparency.map.map((one) => (one.name === POLICY_NAME ? { ...one, state: null } : one))
      await logFalsely(power, transparency, { states: { [name]: state } })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P14', 'ghost-reader', 'a reader whom no admin put on the access list', 'ACCESS_LIST', 'bad_signature'],
    ({ signed }) => rewrite(signed.acl, { acl: withReader(payloadOf(signed.acl).acl, 'user:ghost') }),
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P14', 'ghost-reader-logged', 'the same, and the log takes the list', 'ACCESS_LIST', 'bad_signature vault_fork'],
    async ({ signed }, power) => {
      rewrite(signed.acl, { acl: withReader(payloadOf(signed.acl).acl, 'user:ghost') })
      const name = vaultName(signed.vaultId)
      const state = need(stateIn(signed.transparency, name), 'an answer that proves the vault')
      const states = { [name]: { ...state, aclHash: documentHash(asEnvelope(signed.acl)) } }
      await logFalsely(power, signed.transparency, { docs: [asEnvelope(signed.acl)], states })
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P15', 'duty-suppressed', 'the state of the vault, changed from what the log proves', 'STATE', 'bad_map_proof'],
    ({ signed }) => {
      const name = vaultName(signed.vaultId)
      const proven = need(
        signed.transparency.map.find((one) => one.name === name),
        'an answer that proves the vault',
      )
      proven.state = { ...proven.state, rotationDue: proven.state?.rotationDue ? null : { index: 0, at: 0 } }
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P24', 'list-as-head', 'the access list in the place of the head', 'DOCUMENT_TYPE', 'wrong_type'],
    ({ signed }) => {
      signed.head = signed.acl
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    ['P24', 'list-named-head', 'the access list under the name of a head', 'DOCUMENT_TYPE', 'bad_signature'],
    ({ signed }) => {
      signed.head = { ...signed.acl, payloadType: signed.head.payloadType }
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      'P25',
      'head-with-white-space',
      'the head with a space that changes nothing for a parser',
      'CANONICAL',
      'bad_signature',
    ],
    ({ signed }) => {
      const text = Buffer.from(signed.head.payload, 'base64').toString()
      signed.head.payload = Buffer.from(text.replace(':', ': ')).toString('base64')
    },
  ),
  changing<ProjectEnvironmentBody>(
    PROJECT,
    ['P27', 'vault-of-project-dropped', 'a project without one of its vaults', 'PROJECT_VAULTS', 'project_mismatch'],
    (body) => {
      need(body.vaults[1], 'a project with two vaults')
      body.vaults.pop()
    },
  ),
  changing<ProjectEnvironmentBody>(
    PROJECT,
    [
      'P27',
      'vault-of-project-twice',
      'one vault of a project in the place of another',
      'PROJECT_VAULTS',
      'project_mismatch',
    ],
    (body) => {
      body.vaults[1] = structuredClone(need(body.vaults[1] && body.vaults[0], 'a project with two vaults'))
    },
  ),
  changing<EnvironmentBody>(
    ENV,
    [
      'P30',
      'older-state-to-stateless',
      'the vault set back by a leaf of the log, to a client without memory that asks for an auditor',
      'LOG_WITNESS',
      'witness_quorum',
    ],
    async (body, power) => {
      const { signed, data, wrappedKeys } = olderThan(body, power, ENV)
      const name = vaultName(body.signed.vaultId)
      const older = need(stateIn(signed.transparency, name), 'an older answer')
      const { acl, adminsChain, head } = signed
      Object.assign(body.signed, { head, acl, adminsChain })
      Object.assign(body, { data, wrappedKeys })
      await logFalsely(power, body.signed.transparency, { docs: [asEnvelope(head)], states: { [name]: older } })
    },
    { witnessed: true },
  ),
]
