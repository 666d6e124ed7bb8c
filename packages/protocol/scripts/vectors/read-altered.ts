import { toBase64 } from '../../src/encoding/base64.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { vaultName } from '../../src/log/state.ts'
import { ORIGIN } from '../../test/world/log-host.ts'
import { MINUTE, type World } from '../../test/world/world.ts'
import { signBytes } from './documents.ts'
import { type Answer, altered, answerOf, memoryOf, type Situation, seenAt } from './read-desk.ts'
import { base64, logLine, noteKey, utf8 } from './reference.ts'

// Section 10: what a server can do to an honest answer without logging anything.

const flipped = (text: string): string => {
  const bytes = Buffer.from(text, 'base64')
  bytes[0] = (bytes[0] as number) ^ 1
  return base64(bytes)
}
const payloadOf = (envelope: Envelope): Record<string, unknown> =>
  JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
const withPayload = (envelope: Envelope, change: object) =>
  ({ ...envelope, payload: toBase64(canonical({ ...payloadOf(envelope), ...change })) }) as Answer['head']
const first = <T>(list: readonly T[]): T => list[0] as T
const documentOf = ({ host }: World, hash: unknown): Answer['head'] =>
  structuredClone(host.ledger.document(hash as string)) as Answer['head']
const nothing = (): void => undefined

const content: readonly Situation[] = [
  altered('a field left out', 'env_mismatch', ({ fields }) => fields.pop()),
  altered('a field added', 'env_mismatch', ({ fields }) =>
    fields.push({ ...first(fields), row: { ...first(fields).row, fieldId: 'fld_more' } }),
  ),
  altered('all fields left out', 'env_mismatch', ({ fields }) => fields.splice(0)),
  altered('a label changed', 'env_mismatch', ({ fields }) =>
    Object.assign(first(fields).row, { label: 'DATABASE_URM' }),
  ),
  altered('two labels exchanged', 'env_mismatch', ({ fields: [a, b] }) => {
    if (a && b) [a.row.label, b.row.label] = [b.row.label, a.row.label]
  }),
  altered(
    'one label twice',
    'duplicate_label',
    ({ fields: [a, b] }) => a && b && Object.assign(b.row, { label: a.row.label }),
  ),
  altered('a revision changed', 'env_mismatch', ({ fields }) => Object.assign(first(fields).row, { rev: 2 })),
  altered('a field of another item', 'env_mismatch', ({ fields }) =>
    Object.assign(first(fields).row, { itemId: 'itm_stripe' }),
  ),
  altered('a field under a key that does not exist yet', 'env_mismatch', ({ fields }) =>
    Object.assign(first(fields).row, { dekVersion: 2 }),
  ),
  altered('a row with a member too many', 'malformed', ({ fields }) => Object.assign(first(fields).row, { note: '' })),
  altered('two values exchanged', 'field_swap', ({ fields: [a, b] }) => {
    if (a && b) [a.value, b.value] = [b.value, a.value]
  }),
  altered('a bit of a ciphertext changed', 'field_swap', ({ fields }) => {
    first(fields).value = first(fields).value.replace(/.{4}$/, (end) => (end === 'AAAA' ? 'AAAB' : 'AAAA'))
  }),
  altered('a field and its value from another vault', 'env_mismatch', async ({ fields }, world) => {
    const other = (await world.answer(world.staging, world.actors.deploy)).fields[0] as Answer['fields'][number]
    const at = fields.findIndex(({ row }) => row.label === other.row.label)
    fields[at] = other
  }),
  altered('a value in an older format', 'alg_downgrade', ({ fields }) => {
    first(fields).value = `v2.${first(fields).value.slice(3)}`
  }),
  altered('a value that is empty', 'alg_downgrade', ({ fields }) => Object.assign(first(fields), { value: '' })),
  altered('an answer with a member too many', 'malformed', (answer) => Object.assign(answer, { note: '' })),
  altered('an answer without wrapped keys', 'malformed', (answer) => Reflect.deleteProperty(answer, 'wrappedKeys')),
]

const documents: readonly Situation[] = [
  altered('an older head', 'head_mismatch', (answer, world) =>
    Object.assign(answer, { head: documentOf(world, payloadOf(answer.head).prev) }),
  ),
  altered('a head with its name changed', 'bad_signature', (answer) => {
    answer.head = withPayload(answer.head, { meta: { name: 'Prod', classification: 'public', status: 'active' } })
  }),
  altered('a head without signature', 'missing_signature', ({ head }) => Object.assign(head, { signatures: [] })),
  altered('a head signed by a stranger', 'unknown_signer', async (answer, { actors }) => {
    const { payloadType, payload } = answer.head
    answer.head = (await signBytes(payloadType, Buffer.from(payload, 'base64'), [actors.mallory])) as Answer['head']
  }),
  altered('the head of another vault', 'head_mismatch', async (answer, world) => {
    answer.head = structuredClone((await world.vaultAnswer(world.staging)).head) as Answer['head']
  }),
  altered('the access list as head', 'wrong_type', (answer) => Object.assign(answer, { head: answer.acl })),
  altered('the head as access list', 'wrong_type', (answer) => Object.assign(answer, { acl: answer.head })),
  altered('the access list of another vault', 'acl_mismatch', async (answer, world) => {
    answer.acl = structuredClone((await world.vaultAnswer(world.staging)).acl) as Answer['acl']
  }),
  altered('an access list with a reader more', 'bad_signature', (answer) => {
    answer.acl = withPayload(answer.acl, {
      acl: [...(payloadOf(answer.acl).acl as object[]), { p: 'user:ou_mallory', role: 'read' }],
    })
  }),
  altered('the creation of another vault', 'vault_swap', async (answer, world) => {
    answer.create = structuredClone((await world.vaultAnswer(world.staging)).create) as Answer['create']
  }),
  altered('a further admin document', 'admin_chain', (answer) => answer.adminsChain.push(answer.acl)),
  altered('another organisation', 'genesis_mismatch', (answer) => {
    answer.genesis = withPayload(answer.genesis, { salt: 'AAAAAAAAAAAAAAAAAAAAAQ' })
  }),
  altered('another organisation is pinned', 'genesis_mismatch', nothing, {
    trust: () => ({ genesis: 'A'.repeat(43) }),
  }),
  altered('a signer without a record', 'unknown_signer', ({ records }) => records.splice(0)),
  altered('another vault than the one asked for', 'bad_map_proof', nothing, { vaultId: ({ staging }) => staging }),
  altered('another vault, with the state of the one asked for', 'vault_swap', nothing, {
    options: ({ staging }) => ({ names: [vaultName(staging)] }),
    vaultId: ({ staging }) => staging,
  }),
]

const keys: readonly Situation[] = [
  altered('no wrapped key', 'unwrapped_key_missing', ({ wrappedKeys }) => wrappedKeys.splice(0)),
  altered('the wrapped key of somebody else', 'wrap_context', async (answer, world) => {
    answer.wrappedKeys = (await answerOf(world, 'rsaOnly')).wrappedKeys
  }),
  altered('the wrapped key of another vault', 'wrap_context', async (answer, world) => {
    answer.wrappedKeys = structuredClone(
      (await world.answer(world.staging, world.actors.deploy)).wrappedKeys,
    ) as Answer['wrappedKeys']
  }),
  altered('a wrapped key twice', 'malformed', ({ wrappedKeys }) => wrappedKeys.push(first(wrappedKeys))),
  altered('a wrapped key with its ciphertext changed', 'stale_wrapped_dek', ({ wrappedKeys }) => {
    const ct = payloadOf(first(wrappedKeys)).ct as string
    wrappedKeys[0] = withPayload(first(wrappedKeys), { ct: `${ct.slice(0, -1)}${ct.endsWith('A') ? 'Q' : 'A'}` })
  }),
  altered('a wrapped key without signature', 'missing_signature', ({ wrappedKeys }) =>
    Object.assign(first(wrappedKeys), { signatures: [] }),
  ),
  altered('a wrapped key with a bad signature', 'bad_signature', ({ wrappedKeys: [wrap], head }) => {
    if (wrap) wrap.signatures = wrap.signatures.map((one) => ({ ...one, sig: first(head.signatures).sig }))
  }),
]

const stateIn = ({ transparency }: Answer, name: string): Answer['transparency']['map'][number] =>
  transparency.map.find((entry) => entry.name === name) as Answer['transparency']['map'][number]
const dropState = ({ transparency }: Answer, prefix: string): void => {
  transparency.map = transparency.map.filter(({ name }) => !name.startsWith(prefix))
}
const relined = ({ transparency }: Answer, keep: (line: string) => boolean): void => {
  transparency.checkpoint = transparency.checkpoint.split('\n').filter(keep).join('\n')
}
const EVIL = noteKey(ORIGIN, 1, 0x45)
const bodyOf = (note: string): string => note.slice(0, note.indexOf('\n\n') + 1)

const log: readonly Situation[] = [
  altered('a state changed', 'bad_map_proof', (answer, { prod }) => {
    const proven = stateIn(answer, vaultName(prod))
    Object.assign(proven, { state: { ...(proven.state as object), headVersion: 3 } })
  }),
  altered('a sibling changed', 'bad_map_proof', (answer, { prod }) => {
    const { siblings } = stateIn(answer, vaultName(prod))
    siblings[0] = flipped(first(siblings))
  }),
  altered('the vault denied', 'bad_map_proof', (answer, { prod }) =>
    Object.assign(stateIn(answer, vaultName(prod)), { state: null }),
  ),
  altered('the state of the vault left out', 'bad_map_proof', (answer) => dropState(answer, 'vault/')),
  altered('the states of the signers left out', 'unknown_signer', (answer) => dropState(answer, 'kid/')),
  altered('the grant left out', 'unwrapped_key_missing', (answer) => dropState(answer, 'grant/')),
  altered('the last leaf changed', 'bad_inclusion', ({ transparency: { tip } }) => {
    tip.leaf = toBase64(utf8(Buffer.from(tip.leaf, 'base64').toString().replace('vault.commit', 'vault.comnit')))
  }),
  altered('an older leaf as the last', 'bad_inclusion', ({ transparency: { tip } }, { host }) => {
    tip.leaf = toBase64((host.leaves[9] as { made: { bytes: Uint8Array } }).made.bytes)
  }),
  altered('a checkpoint by another key', 'log_key', ({ transparency }) => {
    const body = bodyOf(transparency.checkpoint)
    transparency.checkpoint = `${body}\n${logLine(EVIL, body)}`
  }),
  altered('a checkpoint of another log', 'log_key', nothing, {
    trust: () => ({
      origin: EVIL.name.replace('5f', '6f'),
      logKeys: [noteKey(EVIL.name.replace('5f', '6f'), 1, 0x77).vkey],
    }),
  }),
  altered('a checkpoint whose size was changed', 'bad_signature', ({ transparency }) => {
    transparency.checkpoint = transparency.checkpoint.replace('\n11\n', '\n12\n')
  }),
  altered('no cosignature', 'witness_quorum', (answer) =>
    relined(answer, (line) => !line.startsWith('\u2014 witness')),
  ),
  altered('one cosignature of two', 'witness_quorum', (answer) =>
    relined(answer, (line) => !line.startsWith('\u2014 witness.two')),
  ),
  altered('a view that is too old', 'stale_view', nothing, { trust: ({ now }) => ({ now: now + 61 * MINUTE }) }),
  altered('a log that is shorter than one seen before', 'log_rollback', nothing, {
    trust: (world) => ({ seen: { ...seenAt(world, 11), size: 12 } }),
  }),
  altered('another log of the same size', 'log_fork', nothing, {
    trust: (world) => ({ seen: { ...seenAt(world, 10), size: 11 } }),
  }),
  altered('a log that grew without proof', 'missing_consistency', nothing, {
    trust: (world) => ({ seen: seenAt(world, 7) }),
  }),
  altered('a log that grew, with a proof from another size', 'missing_consistency', nothing, {
    options: () => ({ have: 6 }),
    trust: (world) => ({ seen: seenAt(world, 7) }),
  }),
  altered(
    'a log that grew, with a proof changed',
    'log_fork',
    ({ transparency: { consistency } }) => {
      if (consistency) consistency.hashes = consistency.hashes.map(flipped)
    },
    { options: () => ({ have: 7 }), trust: (world) => ({ seen: seenAt(world, 7) }) },
  ),
  altered('a log that grew out of another', 'log_fork', nothing, {
    options: () => ({ have: 7 }),
    trust: (world) => ({ seen: { ...seenAt(world, 6), size: 7 } }),
  }),
  altered('a transparency object with a member too many', 'malformed', ({ transparency }) =>
    Object.assign(transparency, { unchanged: true }),
  ),
]

/** A client with memory, which the vault must not contradict. */
const pinOf = (world: World, change: object) => ({ vaultPin: { ...memoryOf(world), ...change } })
const memory: readonly Situation[] = [
  altered('a head older than one seen before', 'vault_rollback', nothing, {
    trust: (world) => pinOf(world, { headVersion: 3 }),
  }),
  altered('another head of a version seen before', 'vault_fork', nothing, {
    trust: (world) => pinOf(world, { headHash: 'A'.repeat(43) }),
  }),
  altered('an access list older than one seen before', 'vault_rollback', nothing, {
    trust: (world) => pinOf(world, { aclVersion: 2 }),
  }),
  altered('a vault key older than one seen before', 'vault_rollback', nothing, {
    trust: (world) => pinOf(world, { dekVersion: 2 }),
  }),
  altered('admins who go on from others than those seen before', 'vault_fork', nothing, {
    trust: (world) => pinOf(world, { adminsHash: 'A'.repeat(43) }),
  }),
  altered('another vault key of a version seen before', 'vault_fork', nothing, {
    trust: (world) => pinOf(world, { dekCommit: 'A'.repeat(43) }),
  }),
]

export const ALTERED: readonly Situation[] = [...content, ...documents, ...keys, ...log, ...memory]
