import * as Radix from '@radix-ui/react-dialog'
import { X } from 'lucide-react'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { classes } from './classes.ts'
import { CopyLine } from './copy.tsx'
import { TextField } from './field.tsx'
import { useFocusBack } from './focus-back.ts'
import { ProblemNote } from './states.tsx'

interface Members {
  readonly title: string
  readonly open: boolean
  onClose(): void
  readonly children: ReactNode
  /** A press beside it is often a slip. `keys`: something typed would be lost by it; `buttons`: what is shown once would, by Escape too. */
  readonly closesBy?: 'anything' | 'keys' | 'buttons'
}

// As high as what it lies over: what is opened later comes later in the page, and dims a drawer below it.
const OVERLAY = 'fixed inset-0 z-50 bg-[rgb(0_0_0/0.35)]'

/** Over another one, which takes the focus back before this one has its turn, a field that wants it is given it again. */
function focusFirst(event: Event): void {
  const first = event.currentTarget instanceof HTMLElement && event.currentTarget.querySelector('[data-first=true]')
  if (!(first instanceof HTMLElement)) return
  event.preventDefault()
  first.focus()
}

/** A layer listens a moment after it has come and has the focus. Until then Radix gives the one below it what is pressed there. */
const isForAnother = ({ target }: Event, own: HTMLElement | null): boolean => {
  const pressedIn = target instanceof Element ? target.closest('[role=dialog]') : null
  return pressedIn !== null && pressedIn !== own
}

type FrameMembers = Members & { readonly place: string }

function Frame({ title, open, onClose, children, place, closesBy = 'anything' }: FrameMembers) {
  const focusBack = useFocusBack(open)
  const content = useRef<HTMLDivElement>(null)
  const onPress = (event: Event) => closesBy === 'anything' || event.preventDefault()
  const onEscape = (event: Event) =>
    (closesBy !== 'buttons' && !isForAnother(event, content.current)) || event.preventDefault()
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={OVERLAY} />
        <Radix.Content
          ref={content}
          aria-describedby={undefined}
          onOpenAutoFocus={focusFirst}
          onCloseAutoFocus={focusBack}
          onPointerDownOutside={onPress}
          onEscapeKeyDown={onEscape}
          className={classes('fixed z-50 overflow-auto border border-rule bg-surface shadow-overlay', place)}
        >
          <header className="sticky top-0 z-10 flex items-center justify-between gap-4 border-b border-rule bg-surface px-5 py-3">
            <Radix.Title className="text-dialog">{title}</Radix.Title>
            <IconButton label="Close" onClick={onClose}>
              <X size={16} strokeWidth={1.5} />
            </IconButton>
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** In the middle of the page: one question. */
export function Dialog(members: Members) {
  return (
    <Frame
      {...members}
      place="top-[12vh] left-1/2 max-h-[80vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 rounded-overlay"
    />
  )
}

/** At the side: one thing of the list behind it. */
export function Drawer(members: Members) {
  return <Frame {...members} place="inset-y-0 right-0 w-[min(640px,100vw)] border-y-0 border-r-0" />
}

interface FormMembers extends Members {
  readonly action: string
  readonly kind?: 'primary' | 'danger'
  readonly busy: boolean
  readonly problem?: unknown
  readonly disabled?: boolean
  /** The same on the command line. */
  readonly cli?: string | undefined
  onSubmit(): void
}

/** A change, with what it is on the command line and what was refused. */
export function FormDialog({
  action,
  kind = 'primary',
  busy,
  problem,
  disabled,
  cli,
  onSubmit,
  children,
  ...members
}: FormMembers) {
  const [isTyped, setTyped] = useState(false)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit()
  }
  return (
    // What comes of a change that is under way is told here.
    <Dialog closesBy={busy ? 'buttons' : isTyped ? 'keys' : 'anything'} {...members}>
      <form onSubmit={submit} onInput={() => setTyped(true)} className="grid gap-4 p-5">
        {children}
        {problem !== undefined && problem !== null && <ProblemNote error={problem} />}
        {cli !== undefined && <CopyLine label="Copy as CLI" text={cli} />}
        <div className="flex justify-end gap-2">
          <Button onClick={members.onClose}>Cancel</Button>
          <Button type="submit" kind={kind} busy={busy} disabled={disabled ?? false}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** For what cannot be undone: the name is typed. */
export function ConfirmByName({ name, children, ...members }: FormMembers & { readonly name: string }) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog {...members} kind="danger" disabled={typed !== name}>
      {children}
      <TextField label={`Type ${name} to go on`} value={typed} onChange={(event) => setTyped(event.target.value)} />
    </FormDialog>
  )
}
