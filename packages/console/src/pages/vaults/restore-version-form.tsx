import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { toast } from '../../ui/toast.tsx'
import type { ShownVersion } from './item-version.ts'
import type { ShownItem } from './queries.ts'
import { takeBack } from './restoring.ts'

interface Members {
  readonly vaultName: string
  readonly item: ShownItem
  readonly past: ShownVersion
  onClose(): void
}

/** What will be different, in words. */
function changesIn({ name, website, fields }: ShownVersion, item: ShownItem): readonly string[] {
  return [
    ...(name === item.name ? [] : [`It is called ${name} again: references by ${item.name} stop working.`]),
    ...(website === item.website ? [] : ['It has the website it had.']),
    ...fields.flatMap(({ label, difference }) => {
      if (difference === 'same') return []
      if (difference === 'added since') return [`${label} is removed.`]
      return [difference === 'removed since' ? `${label} comes back.` : `${label} is as it was.`]
    }),
  ]
}

export function RestoreVersionForm({ vaultName, item, past, onClose }: Members) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { vaultId, itemId } = item
  const look = () => queries.invalidateQueries({ queryKey: ['vault', vaultId] })
  const put = async (version: number): Promise<void> => {
    await strongroom.items.restoreVersion(vaultId, itemId, version)
  }
  const undo = async (): Promise<void> => {
    await takeBack(`version ${item.version}`, () => put(item.version))
    await look()
  }
  const restore = useMutation({
    mutationFn: () => put(past.version),
    onSuccess: async () => {
      toast(`Restored version ${past.version}`, () => void undo())
      await look()
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Restore version ${past.version}`}
      open
      onClose={onClose}
      action="Sign and restore"
      busy={restore.isPending}
      problem={restore.error}
      cli={`strongroom item restore ${shellWord(`${vaultName}/${item.name}`)} --version ${past.version}`}
      onSubmit={() => restore.mutate()}
    >
      <ul aria-label="What changes" className="list-disc pl-4">
        {changesIn(past, item).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      <p>It is written as the next version; the one that is current now stays among the earlier ones. Files stay.</p>
    </FormDialog>
  )
}
