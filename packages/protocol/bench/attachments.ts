import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import type { VerifiedAsset } from '../src/attachments/checkpoint.ts'
import { ciphertextSizeOf, FLOE_1M, segmentPlaintextBytes } from '../src/attachments/floe.ts'
import { decryptStream, encryptStream, type StreamOptions } from '../src/attachments/floe-stream.ts'
import { decryptAttachment, encryptAttachment } from '../src/attachments/transfer.ts'
import { utf8 } from '../src/encoding/bytes.ts'
import { makeDek } from '../src/values/dek.ts'

// Throughput of attachments beside the bare primitives over the same segments, in one process and in turn, so that a busy
// machine slows both alike. Counted in CPU time; chunks of 64 KiB, as files and sockets give them. Goal: at least 0.70.

const MIB = 1_048_576
const ROUND_BYTES = 64 * MIB
const ROUNDS = 7
const FLAT_BYTES = 2048 * MIB
const GOAL_RATIO = 0.7
const GOAL_GROWTH = 64_000_000

const CHUNK = randomBytes(65_536)
const SEGMENT = randomBytes(segmentPlaintextBytes(FLOE_1M))
const KEY = new Uint8Array(randomBytes(32))
const AAD = utf8('bench')
const PLACE = { org: 'org_bench', vaultId: `v${'a'.repeat(32)}`, assetId: 'ast_bench', assetVersion: 1 }
const dek = makeDek({ org: PLACE.org, vaultId: PLACE.vaultId, dekVersion: 1 })

async function* generated(size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += CHUNK.length) yield CHUNK.subarray(0, Math.min(CHUNK.length, size - at))
}

async function* stored(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK.length) yield bytes.subarray(at, at + CHUNK.length)
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}

async function chunksOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

type Work = () => void | Promise<void>

const SEGMENTS = ROUND_BYTES / FLOE_1M.segmentBytes
const NONCE_BYTES = 12
const TAG_BYTES = 16

function bareSeal(segment: Uint8Array, nonce: Uint8Array): Buffer[] {
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce).setAAD(AAD)
  return [cipher.update(segment), cipher.final(), cipher.getAuthTag()]
}

function bareOpen(sealed: Uint8Array, nonce: Uint8Array): Buffer[] {
  const decipher = createDecipheriv('aes-256-gcm', KEY, nonce, { authTagLength: TAG_BYTES }).setAAD(AAD)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return [decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]
}

/** What section 7 hashes besides. */
function bareHashes(plaintext: Uint8Array, ciphertext: Uint8Array): void {
  createHash('sha256').update(ciphertext).digest()
  createHmac('sha256', KEY).update(plaintext).digest()
}

const bareSealAll = (hashes: boolean) => (): void => {
  for (let i = 0; i < SEGMENTS; i++) {
    const [sealed] = bareSeal(SEGMENT, randomBytes(NONCE_BYTES)) as [Buffer]
    if (hashes) bareHashes(SEGMENT, sealed)
  }
}

/** Over a store as large as the one our side reads, so that both take their input from memory and not from caches. */
function bareOpenAll(hashes: boolean): Work {
  const stores = Array.from({ length: SEGMENTS }, () => {
    const nonce = randomBytes(NONCE_BYTES)
    return { nonce, sealed: Buffer.concat(bareSeal(SEGMENT, nonce)) }
  })
  return () => {
    for (const { nonce, sealed } of stores) {
      const [opened] = bareOpen(sealed, nonce) as [Buffer]
      if (hashes) bareHashes(opened, sealed)
    }
  }
}

async function cpuSeconds(work: Work): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number

type Ours = (options: StreamOptions) => Promise<void>
type Contender = 'ours' | 'reusing' | 'bare'

/** All three in turn, after one round to warm up: bare primitives swing by two with the state of the allocator. */
async function compare(name: string, ours: Ours, bareName: string, bare: Work): Promise<string> {
  const work: Record<Contender, Work> = {
    ours: () => ours({}),
    reusing: () => ours({ reuseBuffers: true }),
    bare,
  }
  const seconds: Record<Contender, number[]> = { ours: [], reusing: [], bare: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const contender of ['ours', 'reusing', 'bare'] as const) {
      const spent = await cpuSeconds(work[contender])
      if (round > 0) seconds[contender].push(spent)
    }
  }
  const speed = (of: Contender): string => (ROUND_BYTES / MIB / median(seconds[of])).toFixed(0)
  const ratio = (of: Contender): number => median(seconds.bare) / median(seconds[of])
  const verdict = ratio('ours') >= GOAL_RATIO ? 'goal met' : 'GOAL MISSED'
  const speeds = `${speed('ours')} MiB per CPU-second (${speed('reusing')} with reused buffers); ${bareName}: ${speed('bare')}`
  return `${name}: ${speeds}; ratio ${ratio('ours').toFixed(2)} (${ratio('reusing').toFixed(2)}); goal ${GOAL_RATIO.toFixed(2)}: ${verdict}`
}

async function sealWhole(size: number): Promise<{ ciphertext: Buffer; asset: VerifiedAsset }> {
  const attachment = await encryptAttachment({
    dek,
    place: PLACE,
    source: generated(size),
    name: 'bench',
    mediaType: '',
  })
  const ciphertext = Buffer.concat(await chunksOf(attachment.ciphertext))
  // Signing is not measured here, so the brand of a verified attachment is made by hand.
  const asset = { place: PLACE, content: attachment.content() } as VerifiedAsset
  return { ciphertext, asset }
}

/** The goal is for streams that reuse buffers; otherwise V8 lets some 64 MiB of dead chunks gather before it collects. */
async function flatMemory(reuseBuffers: boolean): Promise<string> {
  const before = process.memoryUsage.rss()
  let peak = before
  const source = generated(FLAT_BYTES)
  const attachment = await encryptAttachment({ dek, place: PLACE, source, name: 'bench', mediaType: '', reuseBuffers })
  for await (const _ of attachment.ciphertext) peak = Math.max(peak, process.memoryUsage.rss())
  const whole = attachment.content().ciphertextSize === ciphertextSizeOf(FLAT_BYTES)
  if (!whole) throw new Error('the stream was not encrypted to its end')
  const growth = `2 GiB attachment: RSS grew by ${((peak - before) / 1e6).toFixed(0)} MB`
  if (!reuseBuffers) return `${growth} with new buffers for each segment`
  return `${growth} with reused buffers; goal ${GOAL_GROWTH / 1e6} MB: ${peak - before <= GOAL_GROWTH ? 'goal met' : 'GOAL MISSED'}`
}

async function throughput(): Promise<string[]> {
  const { ciphertext, asset } = await sealWhole(ROUND_BYTES)
  const floe = Buffer.concat(await chunksOf(encryptStream(KEY, AAD, generated(ROUND_BYTES))))
  const encryptFloe: Ours = (options) => drain(encryptStream(KEY, AAD, generated(ROUND_BYTES), options))
  const decryptFloe: Ours = (options) => drain(decryptStream(KEY, AAD, stored(floe), options))
  const encryptAll: Ours = async (options) => {
    const source = generated(ROUND_BYTES)
    await drain(
      (await encryptAttachment({ dek, place: PLACE, source, name: '', mediaType: '', ...options })).ciphertext,
    )
  }
  const decryptAll: Ours = (options) => drain(decryptAttachment({ dek, asset, source: stored(ciphertext), ...options }))
  const bareAll = 'bare AES-256-GCM + SHA-256 + HMAC-SHA-256'
  return [
    await compare('FLOE encrypt', encryptFloe, 'bare AES-256-GCM', bareSealAll(false)),
    await compare('FLOE decrypt', decryptFloe, 'bare AES-256-GCM', bareOpenAll(false)),
    await compare('attachment encrypt', encryptAll, bareAll, bareSealAll(true)),
    await compare('attachment decrypt', decryptAll, bareAll, bareOpenAll(true)),
  ]
}

/** Memory first, reused buffers before new ones: what other measurements leave behind would hide growth. */
export async function benchAttachments(): Promise<string[]> {
  return [await flatMemory(true), await flatMemory(false), ...(await throughput())]
}

if (import.meta.main) console.log((await benchAttachments()).join('\n'))
