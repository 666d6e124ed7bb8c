import { shellLine } from '@strongroom/contract'
import { FormDialog } from '../../ui/dialog.tsx'
import type { ShownVersion } from './item-version.ts'
import type { ShownItem } from './queries.ts'
import { type Restored, useVersionRestore } from './restored-version.tsx'

interface Members {
  readonly vaultName: string
  readonly item: ShownItem
  readonly past: ShownVersion
  onClose(): void
  onRestored(restored: Restored): void
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

export function RestoreVersionForm({ vaultName, item, past, onClose, onRestored }: Members) {
  const restore = useVersionRestore(item, () => {
    onRestored({ version: past.version, was: item.version })
    onClose()
  })
  return (
    <FormDialog
      title={`Restore version ${past.version}`}
      open
      onClose={onClose}
      action="Sign and restore"
      busy={restore.isPending}
      problem={restore.error}
      cli={shellLine`strongroom item restore ${`${vaultName}/${item.name}`} --version ${past.version}`}
      onSubmit={() => restore.mutate(past.version)}
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
