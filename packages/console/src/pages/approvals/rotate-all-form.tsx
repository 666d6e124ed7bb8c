import { shellLine } from '@strongroom/contract'
import type { Vault } from '@strongroom/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TaskList, useRunner } from '../agents/task-list.tsx'

/** New keys for all vaults whose former readers still hold the old ones, one vault after the other. */
export function RotateAllForm({ vaults, onClose }: { readonly vaults: readonly Vault[]; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const tasks = vaults.map(({ vaultId, name }) => ({
    id: vaultId,
    label: name,
    run: async () => {
      await strongroom.vaults.rotateKey(vaultId, { reason: 'member-removed' })
      await queries.invalidateQueries({ queryKey: ['vault', vaultId] })
      await queries.invalidateQueries({ queryKey: ['vaults'] })
    },
  }))
  const runner = useRunner(tasks)
  return (
    <Dialog title={`New keys for ${vaults.length} vaults`} open onClose={() => !runner.isWorking && onClose()}>
      <div className="grid gap-4 p-5">
        <p>
          Each gets a new key, wrapped here for everybody who still has access; then everything in it is encrypted anew
          in this page. Keep it open.
        </p>
        <TaskList tasks={tasks} stateOf={runner.stateOf} />
        <CopyLine
          label="Copy as CLI"
          text={vaults.map(({ name }) => shellLine`strongroom vault rotate ${name}`).join(' && ')}
        />
        <div className="flex justify-end gap-2">
          {!runner.isDone && (
            <Button onClick={onClose} disabled={runner.isWorking}>
              Cancel
            </Button>
          )}
          {runner.isDone ? (
            <Button kind="primary" autoFocus onClick={onClose}>
              Close
            </Button>
          ) : (
            <Button kind="primary" busy={runner.isWorking} onClick={runner.run}>
              {runner.hasFailed ? 'Go on with the rest' : 'Rotate all'}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
