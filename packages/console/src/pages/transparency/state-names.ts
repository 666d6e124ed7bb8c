import { principalOf } from '@strongroom/protocol'
import type { Names } from '../activity/filter-tokens.ts'
import type { Subject } from '../activity/rows.ts'

// The log names states by ids: `vault/…`, `kid/…`, `grant/<vault>/<kid>/<version>`. People are told whose they are.

export interface Named {
  readonly subject: Subject
  readonly words: string
}

export function nameOfState(state: string, names: Names): Named {
  const [kind = '', id = '', kid = ''] = state.split('/')
  switch (kind) {
    case 'vault':
    case 'project':
      return { subject: { type: kind, id }, words: names.subject({ type: kind, id }) }
    case 'grant':
      return {
        subject: { type: 'vault', id },
        words: `${names.subject({ type: 'vault', id })} for ${names.person(principalOf(kid))}`,
      }
    case 'kid':
      return { subject: { type: 'key', id }, words: `a key of ${names.person(principalOf(id))}` }
    case 'policy':
      return { subject: { type: 'policy', id: 'policy' }, words: 'the policy' }
    default:
      return { subject: { type: kind, id: id || state }, words: names.subject({ type: kind, id: id || state }) }
  }
}

/** What an entry is, for people. */
export const ENTRY_WORDS: Readonly<Record<string, string>> = {
  'org.genesis': 'the organisation began',
  'key.add': 'key came in',
  'key.rotate': 'key was replaced by its owner',
  'key.recover': 'key was recovered',
  'key.revoke': 'key was ended',
  'caps.set': 'what a key may do changed',
  'policy.set': 'policy changed',
  'recovery.enrol': 'recovery was prepared',
  'log.recover': 'log was recovered',
  'grant.add': 'access was given',
  'vault.commit': 'vault changed',
  'vault.move': 'item moved between vaults',
  'project.commit': 'project changed',
}
