import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { FilesTable } from './files-table.tsx'
import { filesQuery } from './queries.ts'
import { UploadFiles } from './upload-files.tsx'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly item: { readonly itemId: string; readonly name: string }
  readonly canWrite: boolean
}

export function ItemFiles({ vault, item, canWrite }: Members) {
  const files = useQuery(filesQuery(useStrongroom(), vault.vaultId, item.itemId))
  return (
    <section aria-label="Files" className="border-b border-rule pb-4">
      <h3 className="px-6 pt-4 pb-2 text-dialog">Files</h3>
      <Answer of={files} what="the files of this item" loading={<Skeleton rows={1} />}>
        {(all) =>
          all.length === 0 ? (
            !canWrite && <p className="px-6 text-ink-2">It has no files.</p>
          ) : (
            <FilesTable vault={vault} files={all} canWrite={canWrite} itemNameOf={() => item.name} />
          )
        }
      </Answer>
      {canWrite && (
        <div className="px-6 pt-2">
          <UploadFiles vaultId={vault.vaultId} itemFor={async () => item.itemId} />
        </div>
      )}
    </section>
  )
}
