// Every refusal of the package, read from its sources.
// Seen red: a code without use; `throw new TypeError` in a parser; a message with `${value}`; a detail
// with the decrypted bytes; an ensure with a code that does not exist.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PROTOCOL_ERRORS } from '../src/error-codes.ts'
import { ensure, ProtocolError, type ProtocolErrorCode } from '../src/errors.ts'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: withoutComments(readFileSync(SRC + path, 'utf8')) }))
const outsideOfErrors = sources.filter(({ path }) => path !== 'errors.ts')

/** Comments and texts look alike to a search, so comments go first; texts stay whole. */
function withoutComments(text: string): string {
  const pattern = /'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
  return text.replace(pattern, (match) => (match.startsWith('/') ? ' ' : match))
}

/** The arguments of a call that begins at `start`, cut at the commas between them. */
function argumentsAt(text: string, start: number): string[] {
  const args: string[] = []
  let depth = 0
  let from = start
  for (const { 0: token, index } of text.slice(start).matchAll(/'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[()[\]{},]/g)) {
    const at = start + index
    if (token === ',' && depth === 0) {
      args.push(text.slice(from, at).trim())
      from = at + 1
    } else if ('([{'.includes(token)) depth++
    else if (')]}'.includes(token) && depth-- === 0) return [...args, text.slice(from, at).trim()]
  }
  throw new Error(`a call does not end: ${text.slice(start, start + 80)}`)
}

interface Refusal {
  readonly where: string
  /** An expression: mostly a literal, sometimes a choice between two or a parameter. */
  readonly code: string
  readonly message: string
  readonly details: string
}

/** Every place that can refuse: verification steps, and the few helpers that take a code for them. */
const refusals: readonly Refusal[] = outsideOfErrors.flatMap(({ path, text }) =>
  [...text.matchAll(/\b(?<!function )(ensure|ensureTree|refusing|new ProtocolError)\(/g)].map((match) => {
    const args = argumentsAt(text, match.index + match[0].length).filter((arg) => arg !== '')
    const where = `${path}: ${match[0]}${args.join(', ').replace(/\s+/g, ' ').slice(0, 100)}`
    const [code = '', message = '', details = ''] =
      match[1] === 'ensure' ? args.slice(1) : match[1] === 'ensureTree' ? [args[2], '', ''] : args
    return { where, code, message: match[1] === 'refusing' ? '' : message, details }
  }),
)

const CODES = Object.keys(PROTOCOL_ERRORS) as ProtocolErrorCode[]

describe('every code', () => {
  it.each(CODES)('%s says what happened and what to do, in sentences', (code) => {
    const [group, meaning, whatToDo] = PROTOCOL_ERRORS[code]
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(group).toMatch(/^[a-z]+$/)
    expect(meaning).toMatch(/^[A-Z].{15,}\.$/)
    expect(whatToDo).toMatch(/^[A-Z].{10,}\.$/)
    expect(whatToDo).not.toBe(meaning)
  })

  it('is used by a verification step', () => {
    const used = refusals.map(({ code }) => code).join(' ')
    expect(CODES.filter((code) => !used.includes(`'${code}'`))).toEqual([])
  })

  it('is explained in words of its own', () => {
    const meanings = CODES.map((code) => PROTOCOL_ERRORS[code][1])
    expect(new Set(meanings).size).toBe(meanings.length)
  })
})

describe('every verification step', () => {
  it('is found by this suite', () => {
    // The mutation run switches off each of them, so their number is known to be large.
    expect(refusals.length).toBeGreaterThan(300)
    expect(refusals.filter(({ code }) => code === '').map(({ where }) => where)).toEqual([])
  })

  it('refuses with codes that exist', () => {
    const named = refusals.flatMap(({ code, where }) =>
      [...code.matchAll(/'([a-z_]+)'/g)].map(([, one]) => [one, where]),
    )
    expect(named.filter(([code]) => !CODES.includes(code as ProtocolErrorCode))).toEqual([])
    const handedOn = refusals.filter(({ code }) => !code.includes("'")).map(({ code }) => code)
    expect(new Set(handedOn)).toEqual(new Set(['code']))
  })

  it('says what is wrong, in lower case and without a full stop', () => {
    const messages = refusals.map(({ message }) => message).filter((message) => /^['`]/.test(message))
    expect(
      messages.filter(
        (message) => !/^['`]([a-z$]|RSA|PBKDF2|Argon2id|Ed25519)[\s\S]*([^.]|\b[a-z]+1\.)['`]$/.test(message),
      ),
    ).toEqual([])
    expect(messages.length).toBeGreaterThan(300)
  })

  // Names of kinds, places and limits. Whoever adds one here says: this never holds key material, a value or a ciphertext.
  const MAY_BE_TOLD = [
    'path',
    'expected',
    'kind.name',
    'type',
    'name',
    'name}h',
    'other.name',
    'prefix',
    'what',
    'body.length',
    'MAX_BATCH',
    'MAX_CHANGES',
  ]

  it('tells in its message only names of kinds, places and limits', () => {
    const told = refusals.flatMap(({ message }) => [...message.matchAll(/\$\{([^}]+)\}/g)].map(([, one]) => one))
    expect(told.filter((one) => !MAY_BE_TOLD.includes(one as string))).toEqual([])
    const built = refusals
      .filter(({ message }) => message !== '' && !/^['`]/.test(message))
      .map(({ message }) => message)
    expect(new Set(built)).toEqual(new Set(['message']))
  })

  // Public names, versions, sizes and hashes, all of which stand in signed documents or in the log.
  const MAY_BE_SHOWN = new Set(
    `kid kids by to org id vaultId projectId itemId fieldId assetId inviteId docHash dekVersion
    headVersion index size count signed from seen now known pinned genesis origin name keyid keyword
    kind kinds tree t at endorser label principal position newestMs headHash ciphertextSize needed found itemVersion
    version collisions reseal missing extra cause due grace slug purchaseId`.split(/\s+/),
  )

  it('shows in its details only public names, versions, sizes and hashes', () => {
    const shown = refusals.flatMap(({ details, where }) =>
      details.startsWith('{')
        ? argumentsAt(details, 1).map((member) => [member.split(':')[0]?.trim() ?? '', where] as const)
        : [],
    )
    expect(shown.filter(([name]) => name !== '' && !MAY_BE_SHOWN.has(name))).toEqual([])
    const handedOn = refusals.map(({ details }) => details).filter((details) => details !== '' && details[0] !== '{')
    expect(handedOn.filter((details) => !['which', 'details'].includes(details))).toEqual([])
  })
})

describe('nothing but a ProtocolError', () => {
  const thrown = outsideOfErrors.flatMap(({ path, text }) =>
    [...text.matchAll(/\bthrow\b[^\n]*/g)].map(([statement]) => ({ path, statement: statement.trim() })),
  )

  it('is thrown outside of the platforms; what is caught and not understood flies on', () => {
    const others = thrown.filter(({ path, statement }) => !path.startsWith('platform/') && statement !== 'throw error')
    expect(others).toEqual([])
  })

  it('is made by `ensure` alone', () => {
    const made = outsideOfErrors.filter(({ text }) => text.includes('new ProtocolError('))
    expect(made.map(({ path }) => path)).toEqual([])
  })

  it('leaves this package by way of a rejected platform call', () => {
    // The platforms throw TypeErrors on keys of the wrong kind; `importing` is the one place that gives them any.
    const importers = outsideOfErrors.filter(({ text }) => /platform\.import(Rsa|MlKem)\(/.test(text))
    expect(importers.map(({ path }) => path)).toEqual(['identity/private-keys.ts'])
  })
})

describe('a ProtocolError', () => {
  it('carries code, message and details, and is told from other errors', () => {
    const error = new ProtocolError('aead', 'a value does not open', { fieldId: 'fld_1' })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'aead', details: { fieldId: 'fld_1' } })
    expect(String(error)).toBe('ProtocolError: a value does not open')
    expect(new ProtocolError('aead', 'x').details).toEqual({})
  })

  it('is thrown by `ensure` exactly if its condition does not hold', () => {
    for (const holds of [true, 1, 'x', {}, []]) expect(() => ensure(holds, 'aead', 'x')).not.toThrow()
    for (const fails of [false, 0, '', null, undefined, Number.NaN])
      expect(() => ensure(fails, 'aead', 'it fails')).toThrow(new ProtocolError('aead', 'it fails'))
  })
})
