import { logRecover } from '../directory/documents.ts'
import { toBase64url } from '../encoding/base64.ts'
import { ensure } from '../errors.ts'
import type { Envelope } from '../identity/document.ts'
import { POLICY_NAME, policyState } from '../log/state.ts'
import { ensureQuorum } from './directory.ts'
import { accept, type Draft } from './draft.ts'

// Section 5.7, the row of log.recover: the first leaf after a log that was restored from a backup (9.4).

export async function applyLogRecover(draft: Draft, envelope: Envelope): Promise<void> {
  const { payload, hash, signers } = await accept(draft, logRecover, envelope)
  await ensureQuorum(draft, signers, 'recoverQuorum')
  const { keptSize, keptRoot, lost } = payload
  const root = toBase64url(await draft.before.logRoot())
  // A statement serves for one log of one size, so none can be kept back for another restore.
  const isOfThisLog = keptSize === draft.index && keptRoot === root
  ensure(isOfThisLog, 'bad_transition', 'a recovery is of another log than the one that goes on', { size: keptSize })
  ensure(lost.size >= keptSize, 'bad_transition', 'a recovery keeps more than there was', { size: lost.size })
  const state = await draft.read(POLICY_NAME, policyState)
  draft.write(POLICY_NAME, {
    ...state,
    recoveries: [...(state?.recoveries ?? []), { index: draft.index, docHash: hash }],
  })
}
