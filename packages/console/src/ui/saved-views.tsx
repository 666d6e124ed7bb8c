import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useOpenSession } from '../session/session.ts'
import { Button, buttonClasses, IconButton } from './button.tsx'
import { Dialog, FormDialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Menu } from './menu.tsx'
import { toast } from './toast.tsx'

// Filters of a page under a name of their own, on this device and for this person. What is kept is what stands in the address anyway:
// nothing secret.

type Search = Readonly<Record<string, string>>

export interface View {
  readonly name: string
  readonly search: Search
}

const MOST = 20
const isTexts = (value: unknown): value is Search =>
  typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')
const isView = (value: unknown): value is View =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as View).name === 'string' &&
  isTexts((value as Partial<View>).search)

/** What is not understood is as if it were not there. */
export function readViews(text: string | null): readonly View[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found.filter(isView).slice(0, MOST) : []
  } catch {
    return []
  }
}

function useViews(place: string) {
  const { person } = useOpenSession()
  const key = `views ${person.userId} ${place}`
  const [views, setViews] = useState(() => readViews(localStorage.getItem(key)))
  const keep = (next: readonly View[]): void => {
    localStorage.setItem(key, JSON.stringify(next))
    setViews(next)
  }
  return {
    views,
    save: (view: View) => keep([view, ...views.filter(({ name }) => name !== view.name)].slice(0, MOST)),
    remove: (gone: View) => {
      keep(views.filter(({ name }) => name !== gone.name))
      toast(`The view ${gone.name} is gone`, () => keep(views))
    },
  }
}

interface Members {
  /** Which page: views of one are not offered on another. */
  readonly place: string
  /** What the address says now, without what is open beside the list. */
  readonly search: Readonly<Record<string, string | undefined>>
  onOpen(search: Search): void
}

export function SavedViews({ place, search, onOpen }: Members) {
  const { views, save, remove } = useViews(place)
  const [open, setOpen] = useState<'save' | 'manage'>()
  const current = Object.fromEntries(Object.entries(search).filter(([, text]) => text)) as Search
  const hasFilter = Object.keys(current).length > 0
  const close = (): void => setOpen(undefined)
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={buttonClasses()}>
            Views <span aria-hidden="true">▾</span>
          </button>
        }
        choices={[
          ...views.map((view) => ({ label: view.name, onChoose: () => onOpen(view.search) })),
          ...(hasFilter ? [{ label: 'Save what is shown', onChoose: () => setOpen('save') }] : []),
          ...(views.length > 0 ? [{ label: 'Remove views', onChoose: () => setOpen('manage') }] : []),
          ...(hasFilter || views.length > 0
            ? []
            : [{ label: 'None yet: filter, then save it here', onChoose: () => undefined }]),
        ]}
      />
      {open === 'save' && <SaveForm onClose={close} onSave={(name) => save({ name, search: current })} />}
      {open === 'manage' && (
        <Dialog title="Saved views" open onClose={close}>
          <ul className="divide-y divide-rule px-5 py-3">
            {views.map((view) => (
              <li key={view.name} className="flex min-h-8 items-center justify-between gap-3 py-1">
                <span className="min-w-0 break-words">{view.name}</span>
                <IconButton label={`Remove the view ${view.name}`} isSmall onClick={() => remove(view)}>
                  <Trash2 size={14} strokeWidth={1.5} />
                </IconButton>
              </li>
            ))}
            {views.length === 0 && <li className="py-2 text-ink-2">None is left.</li>}
          </ul>
          <div className="flex justify-end px-5 pb-5">
            <Button kind="primary" onClick={close}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function SaveForm({ onClose, onSave }: { onClose(): void; onSave(name: string): void }) {
  const [name, setName] = useState('')
  const given = name.trim()
  return (
    <FormDialog
      title="Save what is shown"
      open
      onClose={onClose}
      action="Save"
      busy={false}
      disabled={given === ''}
      onSubmit={() => {
        onSave(given)
        toast(`Saved as ${given}`)
        onClose()
      }}
    >
      <TextField
        label="Name of the view"
        hint="Kept on this device. To share it, copy the address of the page."
        maxLength={60}
        value={name}
        onChange={({ target }) => setName(target.value)}
        autoFocus
        required
      />
    </FormDialog>
  )
}
