import { canonical, decodePem, fromBase64, parseStrict, parseTrustAnchor, toBase64url } from '@strongroom/protocol'
import { httpUrl } from './address.ts'
import { ConfigError } from './public-errors.ts'

// One credential, one string: everything an agent needs to read its secrets, verified. Whoever has it is the agent.

const PREFIX = 'srb1.'
const MAX_LENGTH = 131_072

export interface Bundle {
  /** The address of the server. */
  readonly server: string
  readonly apiKey: string
  /** PEM with the private keys in PKCS#8. */
  readonly privateKey: string
  readonly agentId: string
  readonly org: string
  /** `vta1.…` */
  readonly trustAnchor: string
}

const MEMBERS = ['agentId', 'apiKey', 'org', 'privateKey', 'server', 'trustAnchor'] as const

/** The string of a bundle. Refuses what `parseBundle` would refuse. */
export function formatBundle({ server, apiKey, privateKey, agentId, org, trustAnchor }: Bundle): string {
  const text = PREFIX + toBase64url(canonical({ v: 1, server, apiKey, privateKey, agentId, org, anchor: trustAnchor }))
  parseBundle(text)
  return text
}

/** Nothing of the string is ever part of a message. */
const refuse = (problem: string): never => {
  throw new ConfigError(`the bundle cannot be used: ${problem}`, {
    code: 'bundle_invalid',
    missing: ['STRONGROOM_BUNDLE'],
    hint: 'Copy it whole, from srb1. on and without spaces or quotes, or ask for a new one.',
  })
}

function membersOf(text: string): Record<string, unknown> {
  try {
    const base64 = text.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/')
    const padded = base64 + '='.repeat((4 - (base64.length % 4)) % 4)
    return parseStrict(fromBase64(padded)) as Record<string, unknown>
  } catch {
    return refuse('it is cut off or altered')
  }
}

/** Strict: one string for one bundle. */
export function parseBundle(text: string): Bundle {
  const given = text.trim()
  if (!given.startsWith('srb')) refuse('it does not begin with srb1.')
  if (!given.startsWith(PREFIX)) refuse('it is of a version this client does not know')
  if (given.length > MAX_LENGTH) refuse('it is too long')
  const { v, anchor, ...rest } = membersOf(given)
  const members = { ...rest, trustAnchor: anchor } as Record<string, unknown>
  const isComplete =
    v === 1 && Object.keys(members).length === MEMBERS.length && MEMBERS.every((name) => isText(members[name]))
  if (!isComplete) refuse('members are missing')
  const bundle = members as unknown as Bundle
  ensureParts(bundle)
  return bundle
}

const isText = (member: unknown): boolean => typeof member === 'string' && member.length > 0

function ensureParts({ server, privateKey, org, trustAnchor }: Bundle): void {
  if (!httpUrl(server)) refuse('its server is not an http address')
  try {
    decodePem(privateKey)
  } catch {
    refuse('its private key cannot be read')
  }
  let anchored: string | undefined
  try {
    anchored = parseTrustAnchor(trustAnchor).org
  } catch {
    refuse('its trust anchor cannot be read')
  }
  if (anchored !== org) refuse('its trust anchor is of another organisation')
}
