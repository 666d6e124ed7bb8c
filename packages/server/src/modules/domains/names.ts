import { domainToASCII } from 'node:url'
import { ApiError } from '../../errors.ts'

// What a domain is called in the DNS.

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/
const MOST = 253

/** Lower case, in punycode, without the dot at the end. Undefined for what is no name of two labels or more. */
export function inDns(text: string): string | undefined {
  const name = domainToASCII(text.trim()).replace(/\.$/, '')
  const labels = name.split('.')
  const isName = name.length <= MOST && labels.length >= 2 && labels.every((label) => LABEL.test(label))
  return isName && !/^[0-9]+$/.test(labels.at(-1) ?? '') ? name : undefined
}

export function requireName(text: string): string {
  const name = inDns(text)
  if (name === undefined) throw new ApiError('invalid_domain')
  return name
}

/** The name itself and everything it lies in, the longest first: `a.b.example.com`, `b.example.com`, `example.com`. */
export function within(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'))
}

export const isInside = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)
