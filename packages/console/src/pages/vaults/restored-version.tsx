import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import type { ShownItem } from './queries.ts'

/** One version of an item written anew as the next; everything that shows the vault looks again. */
export function useVersionRestore({ vaultId, itemId }: ShownItem, onDone: () => void) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (version: number): Promise<void> => {
      await strongroom.items.restoreVersion(vaultId, itemId, version)
    },
    onSuccess: async () => {
      onDone()
      await queries.invalidateQueries({ queryKey: ['vault', vaultId] })
    },
  })
}

export interface Restored {
  readonly version: number
  /** The one that was current before. */
  readonly was: number
}

/** Beside the versions: a notice of the page would lie behind the drawer, where nobody can press it. */
export function RestoredVersion({
  item,
  restored,
  onUndone,
}: {
  readonly item: ShownItem
  readonly restored: Restored
  onUndone(): void
}) {
  const undo = useVersionRestore(item, onUndone)
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 px-6 pb-2">
      <span>Restored version {restored.version}</span>
      <Button busy={undo.isPending} onClick={() => undo.mutate(restored.was)}>
        Undo
      </Button>
      {undo.error && <ProblemNote error={undo.error} />}
    </div>
  )
}
