import { shellLine } from '@strongroom/contract'
import type { ItemSummary } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { archivedItemsQuery } from './queries.ts'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  onClose(): void
}

function ArchivedItem({ vault, item }: { readonly vault: Members['vault']; readonly item: ItemSummary }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const restore = useMutation({
    mutationFn: () => strongroom.items.restore(vault.vaultId, item.itemId),
    onSuccess: () => toast(`Restored ${item.name}`),
    onSettled: () => queries.invalidateQueries({ queryKey: ['vault', vault.vaultId] }),
  })
  return (
    <li className="grid gap-2 border-b border-rule py-2">
      <div className="flex items-center justify-between gap-4">
        <span className="min-w-0 break-words">{item.name}</span>
        <Button busy={restore.isPending} onClick={() => restore.mutate()}>
          Restore <span className="sr-only">{item.name}</span>
        </Button>
      </div>
      {restore.error && <ProblemNote error={restore.error} />}
    </li>
  )
}

/** What was put away, to bring it back. */
export function ArchivedItemsForm({ vault, onClose }: Members) {
  const archived = useQuery(archivedItemsQuery(useStrongroom(), vault.vaultId))
  return (
    <Dialog title={`Archived in ${vault.name}`} open onClose={onClose}>
      <div className="grid gap-4 p-5">
        <Answer of={archived} what="this vault">
          {(items) =>
            items.length === 0 ? (
              <p className="text-ink-2">Nothing is archived here.</p>
            ) : (
              <ul>
                {items.map((item) => (
                  <ArchivedItem key={item.itemId} vault={vault} item={item} />
                ))}
              </ul>
            )
          }
        </Answer>
        <CopyLine label="Copy as CLI" text={shellLine`strongroom item list ${vault.name} --archived`} />
      </div>
    </Dialog>
  )
}
