import type { ActivityRow, Subject } from './rows.ts'

// What a filter says: `who:checkout-bot status:4xx vault:prod action:item.*` and words. Tokens of one kind are alternatives, kinds add up.

export const TOKENS = ['who', 'status', 'vault', 'action'] as const
export type TokenKind = (typeof TOKENS)[number]

export interface Token {
  readonly kind: TokenKind
  readonly value: string
}

export interface Filter {
  readonly tokens: readonly Token[]
  /** Found anywhere in a row. */
  readonly words: readonly string[]
}

export interface Names {
  person(principal: string): string
  subject(subject: Subject): string
}

const PART = /(?:(who|status|vault|action):)?(?:"([^"]*)"?|(\S+))/gi

export function parseFilter(text: string): Filter {
  const tokens: Token[] = []
  const words: string[] = []
  for (const [, kind, quoted, plain] of text.matchAll(PART)) {
    const value = quoted ?? plain ?? ''
    if (kind === undefined) words.push(value.toLowerCase())
    else if (value !== '') tokens.push({ kind: kind.toLowerCase() as TokenKind, value })
  }
  return { tokens, words: words.filter((word) => word !== '' && !/^(?:who|status|vault|action):$/.test(word)) }
}

export const formatToken = ({ kind, value }: Token): string =>
  `${kind}:${/[\s"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value}`

export const formatFilter = ({ tokens, words }: Filter): string => [...tokens.map(formatToken), ...words].join(' ')

const has = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())

/** `*` stands for anything; without one, a part is enough. */
function matchesAction(action: string, pattern: string): boolean {
  if (!pattern.includes('*')) return has(action, pattern)
  const source = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('.*')}$`, 'i').test(action)
}

function matchesStatus({ status, result, code }: ActivityRow, value: string): boolean {
  const wanted = value.toLowerCase()
  if (/^[1-5]xx$/.test(wanted)) return status !== null && String(status)[0] === wanted[0]
  if (/^\d{3}$/.test(wanted)) return String(status) === wanted
  if (wanted === 'failed' || wanted === 'refused') return result !== 'ok'
  return result.replaceAll(' ', '-') === wanted.replaceAll(' ', '-') || code === wanted
}

function matchesToken(row: ActivityRow, { kind, value }: Token, names: Names): boolean {
  switch (kind) {
    case 'who':
      return row.who === value || row.who.endsWith(`:${value}`) || has(names.person(row.who), value)
    case 'status':
      return matchesStatus(row, value)
    case 'vault':
      return row.where.some(
        (subject) => subject.type === 'vault' && (subject.id === value || has(names.subject(subject), value)),
      )
    case 'action':
      return matchesAction(row.what, value)
  }
}

export function matches(row: ActivityRow, { tokens, words }: Filter, names: Names): boolean {
  const kinds = new Set(tokens.map(({ kind }) => kind))
  for (const kind of kinds) {
    const alternatives = tokens.filter((token) => token.kind === kind)
    if (!alternatives.some((token) => matchesToken(row, token, names))) return false
  }
  if (words.length === 0) return true
  const text = [row.what, names.person(row.who), row.code ?? '', row.requestId, ...row.where.map(names.subject)].join(
    ' ',
  )
  return words.every((word) => has(text, word))
}
