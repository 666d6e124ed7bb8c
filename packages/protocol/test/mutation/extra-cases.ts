import { ProtocolError } from '../../src/errors.ts'
import { openWorld } from '../world/world.ts'
import { ATTACHMENT_CASES } from './extra/attachments.ts'
import { ENCODING } from './extra/encoding.ts'
import { HANDOFF_CASES } from './extra/handoff.ts'
import { IDENTITY } from './extra/identity.ts'
import { INVITES } from './extra/invites.ts'
import { LOG_CASES } from './extra/log.ts'
import { NOTE_CASES } from './extra/notes.ts'
import { RECOVERY_CASES } from './extra/recovery.ts'
import { TRANSITION_CASES } from './extra/transition.ts'
import { TRUST_CASES } from './extra/trust.ts'
import { USER_CASES } from './extra/user.ts'
import { VAULT_CASES } from './extra/vault.ts'
import type { ExtraCase } from './extra-case.ts'

export const EXTRA_CASES: readonly ExtraCase[] = [
  ...ENCODING,
  ...IDENTITY,
  ...LOG_CASES,
  ...NOTE_CASES,
  ...VAULT_CASES,
  ...ATTACHMENT_CASES,
  ...HANDOFF_CASES,
  ...USER_CASES,
  ...INVITES,
  ...TRANSITION_CASES,
  ...TRUST_CASES,
  ...RECOVERY_CASES,
]

/** What is wrong with the refusal; empty if nothing is. */
export async function faultsOfExtra({ code, says, run }: ExtraCase): Promise<readonly string[]> {
  try {
    await run(openWorld)
    return ['accepted']
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const faults = error.code === code ? [] : [`refused with ${error.code} (${error.message})`]
    return says === undefined || error.message.includes(says) ? faults : [...faults, `said “${error.message}”`]
  }
}
