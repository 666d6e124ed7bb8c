// Seen red on this breakage of codes.ts: the checksum not compared; a generator term altered or set to zero; look-alikes
// not mapped; the prefix left out of the checksum; kind, version, length, alphabet or ASCII not checked.
import { expect, it } from 'vitest'
import type { ProtocolError } from '../../src/errors.ts'
import {
  codeBytes,
  formatDeviceSecret,
  formatRecoveryCode,
  makeDeviceSecret,
  makeRecoveryCode,
  parseDeviceSecret,
  parseRecoveryCode,
} from '../../src/user/codes.ts'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const bare = (code: string) => code.replaceAll('-', '')

function refusal(run: () => unknown): ProtocolError {
  try {
    run()
  } catch (error) {
    return error as ProtocolError
  }
  throw new Error('accepted')
}
const refuses = (parse: (typed: string) => unknown, typed: string): boolean => {
  try {
    parse(typed)
    return false
  } catch {
    return true
  }
}

const KINDS = [
  {
    name: 'device secret',
    make: () => formatDeviceSecret(makeDeviceSecret()),
    parse: parseDeviceSecret,
    characters: 36,
  },
  {
    name: 'recovery code',
    make: () => formatRecoveryCode(makeRecoveryCode()),
    parse: parseRecoveryCode,
    characters: 62,
  },
] as const

// Computed with the reference code of BIP-173, outside this repository.
it.each([
  ['SRD1-0000-0000-0000-0000-0000-0000-00P2-1S1R', new Uint8Array(16)],
  ['SRD1-000G-40R4-0M30-E209-185G-R38E-1WCV-Z6ZF', Uint8Array.from({ length: 16 }, (_, i) => i)],
])('writes and reads the device secret %s', (code, bytes) => {
  expect(codeBytes(parseDeviceSecret(code))).toEqual(bytes)
  expect(formatDeviceSecret(parseDeviceSecret(code))).toBe(code)
})

it.each([
  [
    'SRR1-0041-0610-50R3-GG28-A1C6-0T3G-F208-H44R-M2MB-1E60-S38D-HR78-Y3W0-7X86-KW',
    Uint8Array.from({ length: 32 }, (_, i) => 8 * i),
  ],
  ['SRR1-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZG-NZ9P-QX', new Uint8Array(32).fill(255)],
])('writes and reads the recovery code %s', (code, bytes) => {
  expect(codeBytes(parseRecoveryCode(code))).toEqual(bytes)
  expect(formatRecoveryCode(parseRecoveryCode(code))).toBe(code)
})

it('gives back the bytes it wrote', () => {
  const device = makeDeviceSecret()
  expect(codeBytes(parseDeviceSecret(formatDeviceSecret(device)))).toEqual(codeBytes(device))
  expect(codeBytes(device)).toHaveLength(16)
  const recovery = makeRecoveryCode()
  expect(codeBytes(parseRecoveryCode(formatRecoveryCode(recovery)))).toEqual(codeBytes(recovery))
  expect(codeBytes(recovery)).toHaveLength(32)
})

it('writes groups of four behind a versioned prefix, in an alphabet without look-alikes', () => {
  expect(formatDeviceSecret(makeDeviceSecret())).toMatch(/^SRD1(-[0-9A-HJKMNP-TV-Z]{4}){8}$/)
  expect(formatRecoveryCode(makeRecoveryCode())).toMatch(/^SRR1(-[0-9A-HJKMNP-TV-Z]{4}){14}-[0-9A-HJKMNP-TV-Z]{2}$/)
})

it.each(KINDS)('reads a $name in any case, with any spaces and dashes, and with look-alikes', ({ make, parse }) => {
  const code = make()
  const bytes = codeBytes(parse(code))
  const typed = [
    code.toLowerCase(),
    bare(code),
    ` ${code.replaceAll('-', ' ')}\n`,
    code.replaceAll('-', ' – '),
    code.replaceAll('-', '\u2011'),
    code.replaceAll('0', 'O').replaceAll('1', 'I'),
    code.replaceAll('0', 'o').replaceAll('1', 'l'),
    code.replaceAll('1', 'L'),
    code.replaceAll('1', 'i'),
  ]
  for (const text of typed) expect(codeBytes(parse(text))).toEqual(bytes)
})

it.each(KINDS)('notices every single wrong character of a $name', ({ make, parse, characters }) => {
  const code = bare(make())
  expect(code).toHaveLength(characters)
  let tried = 0
  for (let at = 0; at < code.length; at++) {
    for (const char of ALPHABET) {
      if (char === code[at]) continue
      tried++
      expect(refuses(parse, code.slice(0, at) + char + code.slice(at + 1))).toBe(true)
    }
  }
  expect(tried).toBe(characters * 31)
})

it.each(KINDS)('notices every swap of two different characters of a $name, adjacent or not', ({ make, parse }) => {
  for (let round = 0; round < 20; round++) {
    const code = bare(make())
    for (let a = 0; a < code.length; a++) {
      for (let b = a + 1; b < code.length; b++) {
        if (code[a] === code[b]) continue
        const swapped = code.slice(0, a) + code[b] + code.slice(a + 1, b) + code[a] + code.slice(b + 1)
        if (!refuses(parse, swapped)) expect.unreachable(`swap of ${a} and ${b}`)
      }
    }
  }
})

it.each(KINDS)('notices every pair of wrong characters side by side in a $name', ({ make, parse }) => {
  const code = bare(make())
  for (let at = 4; at + 1 < code.length; at++) {
    for (const first of ALPHABET) {
      for (const second of ALPHABET) {
        if (first === code[at] && second === code[at + 1]) continue
        if (!refuses(parse, code.slice(0, at) + first + second + code.slice(at + 2)))
          expect.unreachable(`pair at ${at}`)
      }
    }
  }
})

it.each(KINDS)('notices a lost, a doubled and a moved character of a $name', ({ make, parse }) => {
  const code = bare(make())
  for (let at = 0; at < code.length; at++) {
    const without = code.slice(0, at) + code.slice(at + 1)
    expect(refuses(parse, without)).toBe(true)
    expect(refuses(parse, code.slice(0, at) + code[at] + code.slice(at))).toBe(true)
    const end = without + code[at]
    if (end !== code) expect(refuses(parse, end)).toBe(true)
  }
})

it('says of a typing error which code it is in, without showing any of it', () => {
  const code = formatDeviceSecret(makeDeviceSecret())
  const wrong = code.slice(0, -1) + (code.endsWith('Z') ? 'Y' : 'Z')
  const error = refusal(() => parseDeviceSecret(wrong))
  expect(error.code).toBe('malformed')
  expect(error.message).toBe(
    'the checksum of the device secret does not match: a character is wrong or two are swapped',
  )
  expect(refusal(() => parseRecoveryCode(formatRecoveryCode(makeRecoveryCode()).slice(0, -1))).message).toBe(
    'a recovery code has 58 characters after SRR1, this has 57',
  )
})

it('says so when one code is given for the other', () => {
  const device = formatDeviceSecret(makeDeviceSecret())
  const recovery = formatRecoveryCode(makeRecoveryCode())
  expect(refusal(() => parseDeviceSecret(recovery)).message).toBe('this is a recovery code, not a device secret')
  expect(refusal(() => parseRecoveryCode(device)).message).toBe('this is a device secret, not a recovery code')
})

it('refuses another version as a downgrade, anything else as malformed', () => {
  const code = formatDeviceSecret(makeDeviceSecret())
  expect(refusal(() => parseDeviceSecret(code.replace('SRD1', 'SRD2'))).code).toBe('alg_downgrade')
  expect(refusal(() => parseDeviceSecret(code.replace('SRD1', 'XRD1'))).code).toBe('malformed')
  expect(refusal(() => parseDeviceSecret('')).code).toBe('malformed')
  expect(refusal(() => parseDeviceSecret(code.slice(0, -1).concat('U'))).message).toContain(
    'never contains the letter U',
  )
  expect(refusal(() => parseDeviceSecret(code.slice(0, -1).concat('!'))).code).toBe('malformed')
  expect(refusal(() => parseDeviceSecret('A'.repeat(257))).code).toBe('limit_exceeded')
})

it('does not take foreign letters for ASCII, although some have an ASCII upper case', () => {
  const code = formatDeviceSecret(makeDeviceSecret())
  expect(refusal(() => parseDeviceSecret(code.replace('S', 'ſ'))).message).toContain('letters and digits only')
})

it('shows nothing of a secret that is printed or serialised', () => {
  const secret = makeDeviceSecret()
  expect(JSON.stringify(secret)).toBe('{"kind":"device-secret"}')
  expect(Object.values(secret)).toEqual(['device-secret'])
})

it('refuses an object that merely looks like a secret', () => {
  const fake = { ...makeDeviceSecret() }
  expect(refusal(() => formatDeviceSecret(fake)).code).toBe('malformed')
})
