import { generateKeyPairSync, sign } from 'node:crypto'

// A certificate that its own key has signed, for receivers of tests that are reached by a name.

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts)
const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts)
const integer = (value: number): Buffer => tagged(0x02, Buffer.from([value]))
const identifier = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))
const bits = (value: Uint8Array): Buffer => tagged(0x03, Buffer.from([0]), value)
const time = (at: Date): Buffer => tagged(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]|\..*/g, '')}Z`))

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const DAY_MS = 86_400_000

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** For one name, from yesterday until tomorrow. */
export function selfSigned(name: string, now = new Date()): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const named = sequence(set(sequence(identifier(COMMON_NAME), tagged(0x0c, Buffer.from(name)))))
  const days = [-1, 1].map((by) => time(new Date(now.getTime() + by * DAY_MS)))
  const altName = sequence(identifier(SUBJECT_ALT_NAME), tagged(0x04, sequence(tagged(0x82, Buffer.from(name)))))
  const content = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    named,
    sequence(...days),
    named,
    publicKey.export({ format: 'der', type: 'spki' }),
    tagged(0xa3, sequence(altName)),
  )
  const der = sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, privateKey)))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}
