import { shellLine } from '@strongroom/contract'
import { principalOf } from '@strongroom/protocol'
import type { Receipt } from '@strongroom/sdk'
import { keyWords } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { isGone } from '../../queries.ts'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Facts } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { ArchiveItemsForm } from './archive-items-form.tsx'
import { AttestVault } from './attest.tsx'
import { ItemFields } from './item-fields.tsx'
import { ItemFiles } from './item-files.tsx'
import { ItemHistory } from './item-history.tsx'
import { MoveItemsForm } from './move-items-form.tsx'
import { useNames } from './principals.ts'
import { itemQuery, type ShownItem } from './queries.ts'

/** What was checked before any of it was shown. */
function ItemReceipt({ receipt }: { readonly receipt: Receipt }) {
  const nameOf = useNames()
  const { checkpoint, signerKeyId } = receipt
  return (
    <section aria-label="Receipt" className="grid gap-3 px-6 py-4">
      <h3 className="flex items-center gap-2 text-dialog">
        <Seal root={checkpoint.rootHash} says="Verified in this browser" />
        Receipt
      </h3>
      <Facts
        of={[
          ['Last written by', nameOf(principalOf(signerKeyId))],
          ['With the key', <MonoId key="key" id={signerKeyId} className="text-left" />],
          ['Its words', keyWords(signerKeyId)],
          ['Vault version', receipt.headVersion],
          ['Checkpoint', `${checkpoint.treeSize} entries`],
          ['Made', <When key="when" at={checkpoint.timestamp} />],
          ['In the log', 'verified: the vault’s head is an entry of it'],
          [
            'Same log as before',
            receipt.consistency === 'verified' ? 'verified' : 'first seen: there was nothing older to compare',
          ],
          ['Witnessed', receipt.witnessedAt ? <When key="witnessed" at={receipt.witnessedAt} /> : 'no witness is set'],
        ]}
      />
    </section>
  )
}

function DetailsEditor({ item, vaultName, onDone }: DetailsMembers & { onDone(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [name, setName] = useState(item.name)
  const [website, setWebsite] = useState(item.website)
  const save = useMutation({
    mutationFn: async (): Promise<void> => {
      await strongroom.items.update(item.vaultId, item.itemId, { name: name.trim(), website: website.trim() })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['vault', item.vaultId] })
      onDone()
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate()
  }
  const names = [
    ...(name.trim() === item.name ? [] : ['--name', name.trim() || 'NAME']),
    ...(website.trim() === item.website ? [] : ['--website', website.trim()]),
  ]
  return (
    <form onSubmit={submit} aria-label="Name and website" className="grid gap-3 border-b border-rule px-6 py-4">
      <TextField
        label="Name"
        hint="References by the old name stop working."
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <TextField label="Website" value={website} onChange={(event) => setWebsite(event.target.value)} inputMode="url" />
      {save.error && <ProblemNote error={save.error} />}
      <CopyLine label="Copy as CLI" text={shellLine`strongroom item edit ${`${vaultName}/${item.name}`} ${names}`} />
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={name.trim() === '' || names.length === 0}>
          Sign and save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  )
}

interface DetailsMembers {
  readonly item: ShownItem
  readonly vaultName: string
}

/** A website is what a writer chose: it is led to only if it is a web address. */
const linkOf = (website: string): ReactNode => {
  if (website === '') return 'none'
  const isLink = /^https?:\/\//i.test(website) && URL.canParse(website)
  return isLink ? (
    <a href={website} target="_blank" rel="noreferrer noopener">
      {website}
    </a>
  ) : (
    website
  )
}

interface Members {
  readonly vault: { readonly vaultId: string; readonly name: string }
  readonly itemId: string
  readonly canWrite: boolean
  onClose(): void
}

export function ItemDrawer({ vault, itemId, canWrite, onClose }: Members) {
  const item = useQuery(itemQuery(useStrongroom(), vault.vaultId, itemId))
  const [editing, setEditing] = useState<string>()
  const [asked, setAsked] = useState<'move' | 'archive'>()
  const stop = (): void => setEditing(undefined)
  return (
    <Drawer
      title={isGone(item.error) ? 'Item' : (item.data?.name ?? 'Item')}
      open
      // What is being typed is not lost by a press beside it, nor all else by one Escape, which ends the editing first.
      closesBy={editing === undefined ? 'anything' : 'keys'}
      onClose={() => (editing === undefined ? onClose() : stop())}
    >
      <Answer
        of={item}
        what="this item"
        unsound={(error) => <AttestVault vaultId={vault.vaultId} error={error} />}
        gone={
          <p className="px-5 py-4">
            This item is not in {vault.name}, or not any more. Look among the archived items, or search for it: it may
            have been moved.
          </p>
        }
      >
        {(shown) => (
          // Beside the title, which stands four pixels further out than pages do.
          <div className="-ml-1">
            {editing === 'details' ? (
              <DetailsEditor item={shown} vaultName={vault.name} onDone={stop} />
            ) : (
              <div className="grid gap-3 border-b border-rule px-6 py-4">
                <Facts
                  of={[
                    ['Vault', vault.name],
                    ['Website', linkOf(shown.website)],
                    ['Version', shown.version],
                    ['Id', <MonoId key="id" id={shown.itemId} className="text-left" />],
                  ]}
                />
                {canWrite && (
                  <div className="flex flex-wrap gap-2">
                    <Button onClick={() => setEditing('details')}>Rename</Button>
                    <Button onClick={() => setAsked('move')}>Move</Button>
                    <Button onClick={() => setAsked('archive')}>Archive</Button>
                  </div>
                )}
              </div>
            )}
            <ItemFields
              vaultName={vault.name}
              item={shown}
              canWrite={canWrite}
              editing={editing}
              onEditing={setEditing}
            />
            <ItemFiles vault={vault} item={shown} canWrite={canWrite} />
            <ItemHistory key={shown.itemId} vaultName={vault.name} item={shown} canWrite={canWrite} />
            <ItemReceipt receipt={shown.receipt} />
            {asked === 'move' && (
              <MoveItemsForm vault={vault} items={[shown]} onClose={() => setAsked(undefined)} onMoved={onClose} />
            )}
            {asked === 'archive' && (
              <ArchiveItemsForm vault={vault} items={[shown]} onClose={() => setAsked(undefined)} onDone={onClose} />
            )}
          </div>
        )}
      </Answer>
    </Drawer>
  )
}
