import { shellLine } from '@strongroom/contract'

// What to do next in words of the command line: the server speaks of routes and the protocol of no program, since they do not know who asks.

export const OWN_HINTS: Readonly<Record<string, string>> = {
  agent_not_found: 'strongroom agent list',
  budget_not_found: 'strongroom budget list',
  field_not_found: 'strongroom item show VAULT/ITEM',
  funding_intent_not_found: 'strongroom billing intents',
  group_not_found: 'strongroom api GET /security-group',
  license_instance_not_found: 'strongroom license list',
  license_not_found: 'strongroom license search',
  project_not_found: 'strongroom project list',
  signer_compromised: 'strongroom vault attest VAULT',
  tenant_not_found: 'strongroom api GET /tenant',
  unauthorized: 'strongroom login',
  user_not_found: 'strongroom user list',
  vault_item_not_found: 'strongroom item list VAULT',
  vault_not_found: 'strongroom vault list',
  webhook_not_found: 'strongroom webhook list',
}

/** The same of a project, where no vault is named. */
const OF_A_PROJECT: Readonly<Record<string, string>> = { signer_compromised: 'strongroom project attest PROJECT' }

interface Refused {
  readonly code: string
  readonly hint?: string
  readonly details?: unknown
}

/** A name that is near is better than any list, and so is a command with the names in it. */
export function hintFor({ code, hint, details }: Refused): string | undefined {
  if (code === 'continuity_broken') return pinning(details) ?? hint
  if (/^(?:Did you mean|strongroom) /.test(hint ?? '') || !Object.hasOwn(OWN_HINTS, code)) return hint
  const isOfVault = typeof details === 'object' && details !== null && 'vaultId' in details
  return (isOfVault ? undefined : OF_A_PROJECT[code]) ?? OWN_HINTS[code]
}

/** The key that was met is known to the refusal, so that nobody has to type it off. */
function pinning(details: unknown): string | undefined {
  const { kid, vaultId } = (details ?? {}) as { kid?: unknown; vaultId?: unknown }
  if (typeof kid !== 'string') return undefined
  const vault = typeof vaultId === 'string' ? shellLine` --vault ${vaultId}` : ''
  return `ask its owner whether the key is theirs, then: ${shellLine`strongroom trust pin ${kid}`}${vault}`
}
