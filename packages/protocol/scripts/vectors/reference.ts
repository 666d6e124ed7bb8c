import * as crypto from 'node:crypto'

// A second, naive implementation of the small formats, written from the text of docs/reference/protocol.md and sharing no line with
// src/. What it computes is written into the vectors, so these files are no mere copy of what the package gives.

export const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  crypto.createHash('sha256').update(Buffer.concat(parts)).digest()
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
export const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
export const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8')

const u32 = (value: number): Buffer => {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}
export const u64 = (value: number): Buffer => {
  const out = Buffer.alloc(8)
  out.writeBigUInt64BE(BigInt(value))
  return out
}

// 2.2

export type Part = string | number | Uint8Array
const part = (value: Part): Uint8Array =>
  typeof value === 'string' ? utf8(value) : typeof value === 'number' ? u64(value) : value

export function lp(label: string, ...parts: readonly Part[]): Buffer {
  const all = [label, ...parts].map(part)
  return Buffer.concat([u32(all.length), ...all.flatMap((bytes) => [u32(bytes.length), bytes])])
}

// 2.3

export const pae = (type: string, body: Uint8Array): Buffer =>
  Buffer.concat([utf8(`DSSEv1 ${utf8(type).length} ${type} ${body.length} `), body])

// 2.4 and 2.5

export const hkdf = (ikm: Uint8Array, info: Uint8Array, length: number): Buffer =>
  Buffer.from(crypto.hkdfSync('sha256', ikm, utf8('vault.v3'), info, length))

export interface DekPlace {
  readonly dek: string
  readonly org: string
  readonly vaultId: string
  readonly dekVersion: number
}
const dekOf = ({ dek }: DekPlace): Buffer => Buffer.from(dek, 'hex')

export const dekCommit = (place: DekPlace): string =>
  base64url(hkdf(dekOf(place), lp('vault.v3/dek-commit', place.org, place.vaultId, place.dekVersion), 32))

export function itemKeys(place: DekPlace, itemId: string): { encryption: Buffer; nonce: Buffer } {
  const both = hkdf(dekOf(place), lp('vault.v3/item-key', place.org, place.vaultId, itemId, place.dekVersion), 64)
  return { encryption: both.subarray(0, 32), nonce: both.subarray(32) }
}

export function bucket(length: number): number {
  if (length <= 64) return 64
  if (length <= 1024) return (length + 63) & ~63
  const e = 31 - Math.clz32(length)
  const s = 32 - Math.clz32(e)
  const zeros = (1 << (e - s)) - 1
  return (length + zeros) & ~zeros
}

export const pad = (type: number, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(type), value, Buffer.of(0x80)], bucket(value.length + 2))

export interface FieldPlace {
  readonly itemId: string
  readonly fieldId: string
  readonly rev: number
  readonly label: string
  readonly env: boolean
}

export interface Sealed {
  readonly aad: Buffer
  readonly nonce: Buffer
  readonly envelope: string
  readonly ct: string
}

/** Seals a plaintext that is padded already, so that wrong paddings can be sealed too. */
export function sealPadded(place: DekPlace, field: FieldPlace, padded: Uint8Array, rnd: Uint8Array): Sealed {
  const header = Buffer.concat([Buffer.of(3, 1), u32(place.dekVersion)])
  const { itemId, fieldId, rev, label, env } = field
  const aad = lp('vault.v3/field', header, place.org, place.vaultId, itemId, fieldId, rev, label, env ? 1 : 0)
  const keys = itemKeys(place, itemId)
  const hedge = Buffer.concat([rnd, sha256(aad), sha256(padded)])
  const nonce = crypto.createHmac('sha256', keys.nonce).update(hedge).digest().subarray(0, 12)
  const bytes = Buffer.concat([header, nonce, aesGcm(keys.encryption, nonce, padded, aad)])
  return { aad, nonce, envelope: `v3.${base64url(bytes)}`, ct: base64url(sha256(bytes)) }
}

export function aesGcm(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  const cipher = crypto.createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(aad)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

// 3.2 and 3.4

export interface WrapContext {
  readonly org: string
  readonly vaultId: string
  readonly dekVersion: number
  readonly to: string
  readonly by: string
}
export const wrapContext = ({ org, vaultId, dekVersion, to, by }: WrapContext): Buffer =>
  lp('vault.v3/wrap', org, vaultId, dekVersion, to, by)
export const wrapPlaintext = (dek: Uint8Array, context: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(1), dek, sha256(context)])

export interface HybridParts {
  readonly k1: Uint8Array
  readonly k2: Uint8Array
  readonly ct: Uint8Array
  readonly ct2: Uint8Array
  readonly enc: Uint8Array
  readonly kem: Uint8Array
}
export function hybridBox({ k1, k2, ct, ct2, enc, kem }: HybridParts, context: Uint8Array, payload: Uint8Array) {
  const bound = [ct, ct2, enc, kem].map((bytes) => sha256(bytes))
  const kek = hkdf(Buffer.concat([k1, k2]), lp('vault.v3/hybrid', context, ...bound), 32)
  return aesGcm(kek, Buffer.alloc(12), payload, context)
}

// 5.1, literally RFC 6962 section 2.1. All leaves are alike except those named, so logs of any size can be written down.

export interface Log {
  readonly common: Buffer
  readonly leaves: ReadonlyMap<number, Buffer>
}
export const logLeaf = (data: Uint8Array): Buffer => sha256(Buffer.of(0), data)
export const node = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

const split = (size: number): number => {
  let width = 1
  while (width * 2 < size) width *= 2
  return width
}
const uniform = new Map<string, Buffer>()

export function treeHash(log: Log, begin: number, end: number): Buffer {
  if (end === begin) return sha256()
  if (end - begin === 1) return log.leaves.get(begin) ?? log.common
  const isUniform = ![...log.leaves.keys()].some((leaf) => leaf >= begin && leaf < end)
  const name = `${hex(log.common)} ${end - begin}`
  const known = isUniform ? uniform.get(name) : undefined
  if (known) return known
  const middle = begin + split(end - begin)
  const hash = node(treeHash(log, begin, middle), treeHash(log, middle, end))
  if (isUniform) uniform.set(name, hash)
  return hash
}

export function inclusionPath(log: Log, index: number, begin: number, end: number): Buffer[] {
  if (end - begin === 1) return []
  const middle = begin + split(end - begin)
  return index < middle
    ? [...inclusionPath(log, index, begin, middle), treeHash(log, middle, end)]
    : [...inclusionPath(log, index, middle, end), treeHash(log, begin, middle)]
}

export function consistencyPath(log: Log, from: number, begin: number, end: number, isWhole = true): Buffer[] {
  if (from === end) return isWhole ? [] : [treeHash(log, begin, end)]
  const middle = begin + split(end - begin)
  return from <= middle
    ? [...consistencyPath(log, from, begin, middle, isWhole), treeHash(log, middle, end)]
    : [...consistencyPath(log, from, middle, end, false), treeHash(log, begin, middle)]
}

// 5.2

export type Entry = readonly [key: Buffer, value: Buffer]
export const EMPTY: Buffer = Buffer.alloc(32)
export const bit = (key: Uint8Array, depth: number): number => ((key[depth >> 3] as number) >> (7 - (depth & 7))) & 1
export const mapLeaf = ([key, value]: Entry): Buffer => sha256(Buffer.of(0), key, value)

export function mapRoot(entries: readonly Entry[], depth = 0): Buffer {
  const [first] = entries
  if (!first) return EMPTY
  if (entries.length === 1) return mapLeaf(first)
  const side = (right: number) => entries.filter(([key]) => bit(key, depth) === right)
  return node(mapRoot(side(0), depth + 1), mapRoot(side(1), depth + 1))
}

export interface MapProof {
  readonly siblings: readonly string[]
  readonly terminal: readonly [string, string] | null
}
export function mapProof(entries: readonly Entry[], key: Buffer, depth = 0): MapProof {
  if (entries.length <= 1)
    return { siblings: [], terminal: entries[0] ? [base64(entries[0][0]), base64(entries[0][1])] : null }
  const own = entries.filter(([other]) => bit(other, depth) === bit(key, depth))
  const others = entries.filter(([other]) => bit(other, depth) !== bit(key, depth))
  const below = mapProof(own, key, depth + 1)
  return { ...below, siblings: [base64(mapRoot(others, depth + 1)), ...below.siblings] }
}

// 5.3: C2SP signed-note, tlog-checkpoint and tlog-cosignature.

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface NoteKey {
  readonly name: string
  readonly keyId: Buffer
  readonly vkey: string
  readonly privateKey: crypto.KeyObject
}
export function noteKey(name: string, type: 1 | 4, seedByte: number): NoteKey {
  const der = Buffer.concat([PKCS8, Buffer.alloc(32, seedByte)])
  const privateKey = crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = crypto.createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const typed = Buffer.concat([Buffer.of(type), spki.subarray(-32)])
  const keyId = sha256(utf8(`${name}\n`), typed).subarray(0, 4)
  return { name, keyId, vkey: `${name}+${hex(keyId)}+${base64(typed)}`, privateKey }
}

export const signatureLine = ({ name, keyId }: NoteKey, signature: Uint8Array): string =>
  `\u2014 ${name} ${base64(Buffer.concat([keyId, signature]))}\n`
export const logLine = (key: NoteKey, text: string): string =>
  signatureLine(key, crypto.sign(null, utf8(text), key.privateKey))
export const cosignatureLine = (key: NoteKey, text: string, timestamp: number): string => {
  const signature = crypto.sign(null, utf8(`cosignature/v1\ntime ${timestamp}\n${text}`), key.privateKey)
  return signatureLine(key, Buffer.concat([u64(timestamp), signature]))
}
