import { ACCESS, ACCESS_HONEST } from './access.ts'
import { ADMIN_CHAINS } from './admin-chains.ts'
import { ATTACHMENTS, ATTACHMENTS_HONEST } from './attachments.ts'
import { SIGNED_ATTACHMENTS } from './attachments-signed.ts'
import type { Attack, Honest } from './attack.ts'
import { AUTHORITY, AUTHORITY_HONEST } from './authority.ts'
import { CAPS, CAPS_HONEST } from './caps.ts'
import { CONFUSION, CONFUSION_HONEST } from './confusion.ts'
import { DATED_BACK } from './dated-back.ts'
import { DIRECTORY, DIRECTORY_HONEST } from './directory.ts'
import { ENVELOPE, ENVELOPE_HONEST } from './envelope.ts'
import { SIGNED_ENVELOPES } from './envelope-signed.ts'
import { FALSE_LEAVES, FALSE_LEAVES_HONEST } from './false-leaves.ts'
import { FORMER, FORMER_HONEST } from './former.ts'
import { FRESHNESS } from './freshness.ts'
import { GRANTS } from './grants.ts'
import { HEADS } from './heads.ts'
import { ITEMS } from './items.ts'
import { JOINING, JOINING_HONEST } from './joining.ts'
import { LOG, LOG_HONEST } from './log.ts'
import { MAP_PROOFS } from './map-proofs.ts'
import { MEMBERS, MEMBERS_HONEST } from './members.ts'
import { MEMORY, MEMORY_HONEST } from './memory.ts'
import { MEMORY_KEYS } from './memory-keys.ts'
import { MEMORY_LOG } from './memory-log.ts'
import { POLICIES } from './policies.ts'
import { PROJECTS, PROJECTS_HONEST } from './projects.ts'
import { RECOVERY_ACTS } from './recovery-acts.ts'
import { RESTORED } from './restored.ts'
import { RESTORED_ACTS } from './restored-acts.ts'
import { RESTORED_HONEST, RESTORED_MEMORY } from './restored-memory.ts'
import { ROWS, ROWS_HONEST } from './rows.ts'
import { SUCCESSION } from './succession.ts'
import { USER, USER_HONEST } from './user.ts'
import { VAULT_KEYS } from './vault-keys.ts'
import { WRAPS, WRAPS_HONEST } from './wraps.ts'
import { WRITE_ASSETS } from './write-assets.ts'
import { WRITES, WRITES_HONEST } from './writes.ts'

/** Every attack, by theme. */
export const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  'directory and keys': [...DIRECTORY, ...SUCCESSION, ...CAPS, ...POLICIES],
  'wrapped keys': WRAPS,
  envelopes: [...ENVELOPE, ...SIGNED_ENVELOPES],
  'metadata and rows': [...ROWS, ...ITEMS, ...FORMER],
  'the log': [...LOG, ...MAP_PROOFS],
  freshness: FRESHNESS,
  'vault authority': [...AUTHORITY, ...ADMIN_CHAINS, ...HEADS],
  'rollback and fork, with memory': [...MEMORY, ...MEMORY_LOG, ...MEMORY_KEYS],
  projects: PROJECTS,
  'dated back': DATED_BACK,
  attachments: [...ATTACHMENTS, ...SIGNED_ATTACHMENTS],
  'type confusion and JSON': CONFUSION,
  'user keys and recovery': [...USER, ...JOINING],
  'writes by members': [...WRITES, ...WRITE_ASSETS],
  'access, rotation and grants': [...ACCESS, ...VAULT_KEYS, ...GRANTS],
  'the directory, by members': [...MEMBERS, ...RECOVERY_ACTS],
  'false leaves': FALSE_LEAVES,
  'a restored server': [...RESTORED, ...RESTORED_MEMORY, ...RESTORED_ACTS],
}

export const HONEST: readonly Honest[] = [
  ...DIRECTORY_HONEST,
  ...CAPS_HONEST,
  ...WRAPS_HONEST,
  ...ENVELOPE_HONEST,
  ...ROWS_HONEST,
  ...FORMER_HONEST,
  ...LOG_HONEST,
  ...AUTHORITY_HONEST,
  ...MEMORY_HONEST,
  ...PROJECTS_HONEST,
  ...ATTACHMENTS_HONEST,
  ...CONFUSION_HONEST,
  ...USER_HONEST,
  ...JOINING_HONEST,
  ...WRITES_HONEST,
  ...ACCESS_HONEST,
  ...MEMBERS_HONEST,
  ...FALSE_LEAVES_HONEST,
  ...RESTORED_HONEST,
]
