import type { Attachment } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { download } from '../../ui/download.ts'
import { Menu } from '../../ui/menu.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { callName } from './file-names.ts'
import { formatBytes } from './file-size.ts'
import { RemoveFileForm } from './remove-file-form.tsx'
import { RenameFileForm } from './rename-file-form.tsx'

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly files: readonly Attachment[]
  readonly canWrite: boolean
  itemNameOf(itemId: string): string
  /** Further columns, such as the item a file is of. */
  readonly more?: readonly Column<Attachment>[]
}

interface Chosen {
  readonly what: 'rename' | 'remove'
  readonly file: Attachment
}

const NONE: readonly Column<Attachment>[] = []

/** Files with what can be done with each. What is fetched is decrypted and checked before any of it is saved. */
export function FilesTable({ vault, files, canWrite, itemNameOf, more = NONE }: Members) {
  const strongroom = useStrongroom()
  const [chosen, setChosen] = useState<Chosen>()
  const fetchFile = useMutation({
    gcTime: 0,
    mutationFn: async ({ assetId, name }: Attachment): Promise<void> => {
      const opened = await strongroom.attachments.download(vault.vaultId, assetId)
      download(name, (await opened.bytes()) as Uint8Array<ArrayBuffer>, 'application/octet-stream')
    },
  })
  const { mutate: save, isPending } = fetchFile
  const columns = useMemo(
    (): readonly Column<Attachment>[] => [
      {
        id: 'name',
        header: 'File',
        grows: true,
        sort: ({ name }) => name,
        cell: ({ name }) => <span className="max-sm:break-all">{name}</span>,
      },
      ...more,
      { id: 'size', header: 'Size', align: 'right', sort: ({ size }) => size, cell: ({ size }) => formatBytes(size) },
      {
        id: 'signed',
        header: 'Signed',
        sort: ({ signedAt }) => signedAt.getTime(),
        cell: ({ signedAt }) => <When at={signedAt} />,
      },
      { id: 'version', header: 'Version', align: 'right', cell: ({ version }) => version },
      {
        id: 'actions',
        header: 'Actions',
        cell: (file) => (
          <span className="-ml-3 inline-flex">
            <Button
              kind="quiet"
              disabled={isPending}
              aria-label={`Download ${callName(file, files)}`}
              onClick={() => save(file)}
            >
              Download
            </Button>
            {canWrite && (
              <Menu
                trigger={
                  <button
                    type="button"
                    aria-label={`More for ${callName(file, files)}`}
                    className={buttonClasses('quiet')}
                  >
                    More
                  </button>
                }
                choices={[
                  { label: 'Rename', onChoose: () => setChosen({ what: 'rename', file }) },
                  { label: 'Remove', isDanger: true, onChoose: () => setChosen({ what: 'remove', file }) },
                ]}
              />
            )}
          </span>
        ),
      },
    ],
    [more, canWrite, save, isPending, files],
  )
  const close = (): void => setChosen(undefined)
  const place = chosen && { vault, file: chosen.file, files, itemName: itemNameOf(chosen.file.itemId), onClose: close }
  return (
    <>
      {fetchFile.error && (
        <div className="px-6 py-2">
          <ProblemNote error={fetchFile.error} />
        </div>
      )}
      <Table label="Files" rows={files} columns={columns} keyOf={({ assetId }) => assetId} sortedBy={{ id: 'name' }} />
      {place && chosen.what === 'rename' && <RenameFileForm {...place} />}
      {place && chosen.what === 'remove' && <RemoveFileForm {...place} />}
    </>
  )
}
