import {
  claimedKind,
  type Envelope,
  grantName,
  type Json,
  kidName,
  POLICY_NAME,
  parseStrict,
  principalOf,
  projectName,
  vaultName,
} from '@strongroom/protocol'

// What the documents of an act speak of, so that the states the rules will ask for can be read at once. A hint and nothing
// more: the documents are not verified here, and what is not foreseen is read when it is asked for.

export interface Mentions {
  readonly names: ReadonlySet<string>
  readonly principals: ReadonlySet<string>
  /** Keys that the act may end, with all their grants. */
  readonly endingKids: ReadonlySet<string>
  /** Vaults whose readers the act may change. */
  readonly regrantedVaults: ReadonlySet<string>
}

const KID = /^(user|agent):[A-Za-z0-9_-]{4,64}:[a-z2-7]{32}$/
const PRINCIPAL = /^(user|agent):[A-Za-z0-9_-]{4,64}$/
const VAULT_ID = /^v[a-z2-7]{32}$/
const PROJECT_ID = /^p[a-z2-7]{32}$/
const HASH = /^[A-Za-z0-9_-]{43}$/

type Payload = Readonly<Record<string, Json>>

/** Every text in a value, however deep: parseStrict bounds the depth. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value as Payload).flatMap(textsIn)
}

/** Where a document names the keys it ends. */
const ENDED_BY: Readonly<Record<string, (payload: Payload) => Json | undefined>> = {
  'key.rotate': ({ oldKid }) => oldKid,
  'key.recover': ({ oldKids }) => oldKids,
  'key.revoke': ({ kid }) => kid,
}

interface Found {
  readonly names: Set<string>
  readonly principals: Set<string>
  readonly endingKids: Set<string>
  readonly regrantedVaults: Set<string>
}

function readText(found: Found, kind: string, text: string): void {
  if (KID.test(text)) {
    found.names.add(kidName(text))
    found.principals.add(principalOf(text))
  } else if (PRINCIPAL.test(text)) found.principals.add(text)
  else if (PROJECT_ID.test(text)) found.names.add(projectName(text))
  else if (VAULT_ID.test(text)) {
    found.names.add(vaultName(text))
    if (kind === 'acl.set') found.regrantedVaults.add(text)
  }
}

/** The keys that end, the one name that is put together of several members, and the one that is a hash. */
function readMembers(found: Found, kind: string, payload: Payload): void {
  for (const kid of textsIn(ENDED_BY[kind]?.(payload) ?? null)) if (KID.test(kid)) found.endingKids.add(kid)
  const { vaultId, to, dekVersion, invite } = payload
  if (typeof vaultId === 'string' && VAULT_ID.test(vaultId) && typeof to === 'string' && KID.test(to))
    found.names.add(grantName(vaultId, to, Number(dekVersion)))
  if (typeof invite === 'string' && HASH.test(invite)) found.names.add(`invite/${invite}`)
}

/** Refuses, as the rules would, a document that is not canonical JSON. */
export function mentionsOf(docs: readonly Envelope[]): Mentions {
  const found: Found = {
    names: new Set([POLICY_NAME]),
    principals: new Set(),
    endingKids: new Set(),
    regrantedVaults: new Set(),
  }
  for (const envelope of docs) {
    const kind = claimedKind(envelope)
    const payload = parseStrict(Buffer.from(envelope.payload, 'base64'))
    for (const text of textsIn(payload)) readText(found, kind, text)
    if (typeof payload === 'object' && payload !== null) readMembers(found, kind, payload as Payload)
    for (const { keyid } of envelope.signatures) if (KID.test(keyid)) found.names.add(kidName(keyid))
  }
  return found
}
