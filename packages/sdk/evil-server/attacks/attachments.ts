import {
  type AssetRow,
  assetContent,
  documentHash,
  encodeMapProof,
  makeDocument,
  makeMap,
  mapValue,
  peekDocument,
  toBase64url,
  vaultHead,
} from '@strongroom/protocol'
import { asDocument, asEnvelope, type Document, type ItemsBody, type Signed } from '../answers.ts'
import {
  type Answer,
  type Attack,
  CannotAttack,
  changing,
  type More,
  need,
  OBJECT,
  type Power,
  replacing,
  TICKET,
  WRAPPED_KEY,
} from '../attack.ts'
import { rewrite } from '../forgery.ts'
import { logThisHead } from '../log.ts'
import { introduce, writerIn } from '../material.ts'

// Attachments, rows 54 to 60: what the checkpoint says, where the bytes are, and the bytes themselves.

interface TicketBody {
  url: string
  row: { -readonly [K in keyof AssetRow]: AssetRow[K] }
  proof: { siblings: string[]; terminal: [string, string] | null }
  checkpoint: Document
  signed: Signed
}

const wrong = {
  ciphertextSize: (size: unknown) => Number(size) + 1,
  ciphertextHash: (hash: unknown) => turned(String(hash)),
  plaintextSize: (size: unknown) => Number(size) + 1,
  plaintextHash: (hash: unknown) => turned(String(hash)),
} as const
const turned = (hash: string): string => `${hash.startsWith('A') ? 'B' : 'A'}${hash.slice(1)}`

type Member = keyof typeof wrong
const ROWS: Readonly<Record<Member, readonly [number: string, table: string, words: string]>> = {
  ciphertextSize: ['54', 'ASSET_SIZE', 'size of the ciphertext'],
  ciphertextHash: ['55', 'ASSET_HASH', 'hash of the ciphertext'],
  plaintextSize: ['56', 'ASSET_PLAINTEXT_SIZE', 'size of the content'],
  plaintextHash: ['57', 'ASSET_PLAINTEXT_HASH', 'hash of the content'],
}
const dashed = (member: string): string => member.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)

/** What the log says in these attacks, for whatever a client asks next. */
const told = new Map<string, Signed>()

/** The grants of the reader under the same false log, which it asks for to open the content. */
const alsoGrants: NonNullable<More['also']> = {
  route: WRAPPED_KEY,
  alter: (answer) => {
    const body = answer.body as { signed: Signed }
    const signed = told.get(body.signed.vaultId)
    return signed ? { ...answer, body: { ...body, signed } } : answer
  },
}

/** A writer signs another checkpoint and a head over it, and the log takes both: all that is signed is authentic. */
async function signWrong(body: TicketBody, power: Power, member: Member): Promise<void> {
  const { identity } = writerIn(power, body.signed)
  await introduce(power, body.signed, identity.kid)
  const { payload } = peekDocument(assetContent, asEnvelope(body.checkpoint))
  const { v: _v, t: _t, by: _by, ...content } = payload
  const checkpoint = await makeDocument(assetContent, { ...content, [member]: wrong[member](content[member]) }, [
    identity,
  ])
  const { assets } = (await power.ask(`/vault/${body.signed.vaultId}/items`)) as ItemsBody
  const row = { ...body.row, docHash: documentHash(checkpoint) }
  const rows = [row, ...(assets as unknown as AssetRow[]).filter(({ assetId }) => assetId !== row.assetId)]
  const map = makeMap(rows.map((one) => [`asset/${one.assetId}`, mapValue(one)]))
  const head = peekDocument(vaultHead, asEnvelope(body.signed.head))
  const { v: __v, t: __t, by: __by, ...members } = head.payload
  const next = {
    ...members,
    headVersion: members.headVersion + 1,
    prev: head.hash,
    changes: [],
    assets: { ...members.assets, root: toBase64url(map.root()) },
  }
  const { siblings, terminal } = encodeMapProof(map.prove(`asset/${row.assetId}`))
  const proof = { siblings: [...siblings], terminal: terminal && ([terminal[0], terminal[1]] as [string, string]) }
  Object.assign(body, { row, proof, checkpoint: asDocument(checkpoint) })
  const { signed } = (await power.ask(`/vault/${body.signed.vaultId}/wrapped-key`)) as { signed: Signed }
  const known = new Set(body.signed.transparency.map.map(({ name }) => name))
  body.signed.transparency.map.push(...signed.transparency.map.filter(({ name }) => !known.has(name)))
  const seen = new Set(body.signed.records.map(({ payload: text }) => text))
  body.signed.records.push(...signed.records.filter(({ payload: text }) => !seen.has(text)))
  await logThisHead(power, body.signed, await makeDocument(vaultHead, next, [identity]))
  told.set(body.signed.vaultId, structuredClone(body.signed))
}

/** Another attachment of the vault. */
async function otherTicket(body: TicketBody, power: Power): Promise<TicketBody> {
  const { assets } = (await power.ask(`/vault/${body.signed.vaultId}/items`)) as ItemsBody
  const other = (assets as unknown as AssetRow[]).find(
    ({ assetId, status }) => assetId !== body.row.assetId && status === 'active',
  )
  const { assetId } = need(other, 'a vault with two attachments')
  return (await power.ask(`/attachments/${body.signed.vaultId}/assets/${assetId}/download-ticket`)) as TicketBody
}

const HEADER = 74
const SEGMENT = 1_048_576

/** The ciphertext with its segments in another order; the last one keeps its place. */
const segmentsTo =
  (order: (segments: Buffer[]) => readonly (Buffer | undefined)[]) =>
  (bytes: Buffer): Buffer => {
    const segments: Buffer[] = []
    for (let at = HEADER; at < bytes.length; at += SEGMENT) segments.push(bytes.subarray(at, at + SEGMENT))
    need(segments.length >= 3, 'an attachment of more than two megabytes')
    return Buffer.concat([bytes.subarray(0, HEADER), ...order(segments).flatMap((segment) => segment ?? [])])
  }

const onBytes = (line: Parameters<typeof replacing>[1], change: (bytes: Buffer) => Buffer): Attack =>
  replacing(
    OBJECT,
    line,
    (answer: Answer) => {
      if (!Buffer.isBuffer(answer.body) || answer.status !== 200)
        throw new CannotAttack('a download from its beginning')
      const body = change(Buffer.from(answer.body))
      return { ...answer, headers: { ...answer.headers, 'content-length': String(body.length) }, body }
    },
    { behindKeys: true },
  )

const CONTENT: More = { behindKeys: true, isAuthentic: true }

const ADDRESSES: Readonly<Record<string, (url: string, power: Power) => string>> = {
  file: () => 'file:///etc/passwd',
  'plain-http': (url) => `http://storage.example${url}`,
  loopback: (url, { elsewhere }) => `${elsewhere}${url}`,
  'other-origin': (url) => `https://evil.example${url}`,
  'without-scheme': (url) => `//evil.example${url}`,
}

export const ATTACHMENT_ATTACKS: readonly Attack[] = [
  ...(Object.keys(wrong) as Member[]).flatMap((member) => {
    const [number, table, words] = ROWS[member]
    return [
      changing<TicketBody>(
        TICKET,
        [number, `asset-${dashed(member)}`, `another ${words} in the checkpoint`, table, 'assets_mismatch'],
        ({ checkpoint }) => {
          const { payload } = peekDocument(assetContent, asEnvelope(checkpoint))
          rewrite(checkpoint, { [member]: wrong[member](payload[member]) })
        },
      ),
      changing<TicketBody>(
        TICKET,
        [
          number,
          `asset-${dashed(member)}-signed`,
          `another ${words}, signed by a writer and taken by the log`,
          table,
          'asset_mismatch',
        ],
        (body, power) => signWrong(body, power, member),
        { ...CONTENT, also: alsoGrants },
      ),
    ]
  }),
  onBytes(['54', 'asset-longer', 'a byte after the ciphertext', 'ASSET_SIZE', 'asset_mismatch'], (bytes) =>
    Buffer.concat([bytes, Buffer.of(0)]),
  ),
  onBytes(['54', 'asset-cut', 'a ciphertext that ends early', 'ASSET_SIZE', 'asset_mismatch'], (bytes) =>
    bytes.subarray(0, -1),
  ),
  onBytes(['55', 'asset-flipped', 'one bit of the ciphertext', 'ASSET_HASH', 'asset_mismatch'], (bytes) => {
    const at = bytes.length - 1
    bytes[at] = need(bytes[at], 'an attachment') ^ 1
    return bytes
  }),
  changing<TicketBody>(
    TICKET,
    ['58', 'ticket-of-other-asset', 'the ticket of another attachment', 'ASSET_SCOPE', 'item_swap'],
    async (body, power) => Object.assign(body, await otherTicket(body, power)),
  ),
  changing<TicketBody>(
    TICKET,
    ['58', 'bytes-of-other-asset', 'the address of another attachment', 'ASSET_SCOPE', 'asset_mismatch'],
    async (body, power) => {
      body.url = (await otherTicket(body, power)).url
    },
    CONTENT,
  ),
  ...Object.entries(ADDRESSES).map(([form, address]) =>
    changing<TicketBody>(
      TICKET,
      ['59', `ticket-address-${form}`, `an address elsewhere: ${form}`, 'ASSET_URL', 'asset_url'],
      (body, power) => {
        body.url = address(body.url, power)
      },
    ),
  ),
  onBytes(
    ['60', 'segments-reordered', 'two segments in each other’s place', 'ASSET_ORDER', 'aead'],
    segmentsTo(([first, second, ...rest]) => [second, first, ...rest]),
  ),
  onBytes(
    ['60', 'segment-dropped', 'a segment left out', 'ASSET_ORDER', 'asset_mismatch'],
    segmentsTo(([first, , ...rest]) => [first, ...rest]),
  ),
  onBytes(
    ['60', 'segment-repeated', 'a segment in the place of the next', 'ASSET_ORDER', 'aead'],
    segmentsTo(([first, , ...rest]) => [first, first, ...rest]),
  ),
]
