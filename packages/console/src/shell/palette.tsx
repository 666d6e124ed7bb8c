import * as Radix from '@radix-ui/react-dialog'
import { formatRef, type SearchHit } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { type ReactNode, useState } from 'react'
import { lock, onLock, useStrongroom } from '../session/session.ts'
import { copyText } from '../ui/clipboard.ts'
import { useFocusBack } from '../ui/focus-back.ts'
import { toast } from '../ui/toast.tsx'
import { PLACES } from './places.ts'

const ITEM =
  'flex min-h-8 cursor-pointer items-center justify-between gap-4 rounded-control px-2.5 text-body text-ink data-[selected=true]:bg-raised'

/** Names through the server's search; never values. */
function useHits(text: string) {
  const strongroom = useStrongroom()
  return useQuery({
    queryKey: ['palette', text],
    enabled: text.trim().length >= 2,
    queryFn: async ({ signal }) => [...(await strongroom.search.query(text.trim(), { limit: 8 }, { signal }))],
  })
}

/** The page that shows what was found. */
function placeOf({ kind, vaultId, itemId, id }: SearchHit): { to: string; search?: { item: string } } {
  if (kind === 'license' || vaultId === null) return { to: '/licenses' }
  return { to: `/vaults/${vaultId}`, ...(kind !== 'vault' && { search: { item: itemId ?? id } }) }
}

/** What programs read a field by; undefined for what is not a field. */
function refOf({ kind, path }: SearchHit): string | undefined {
  const [vault, item, field, ...more] = path.split('/')
  return kind === 'field' && vault && item && field && more.length === 0 ? formatRef({ vault, item, field }) : undefined
}

const ACTIONS = [
  { label: 'Make an agent', to: '/agents/new', cli: 'strongroom agent create' },
  { label: 'Invite a person', to: '/people/invites', cli: 'strongroom user invite' },
  { label: 'Verify the log', to: '/transparency', cli: 'strongroom verify' },
  {
    label: 'See what was refused',
    to: '/activity',
    search: { lens: 'audit', filter: 'status:refused' },
    cli: 'strongroom audit --refused',
  },
  { label: 'Buy a licence', to: '/licenses/buy', cli: 'strongroom license buy' },
] as const

/** What was chosen lately, newest first: in the memory of the page, and gone with a lock. */
let recent: readonly SearchHit[] = []
onLock(() => {
  recent = []
})
const remember = (hit: SearchHit): void => {
  recent = [hit, ...recent.filter(({ kind, id }) => kind !== hit.kind || id !== hit.id)].slice(0, 5)
}

function Group({ heading, children }: { readonly heading: string; readonly children: ReactNode }) {
  return (
    <Command.Group heading={heading} className="text-label text-ink-3">
      {children}
    </Command.Group>
  )
}

interface HitMembers {
  readonly hit: SearchHit
  onOpen(hit: SearchHit): void
  onCopy(ref: string): void
}

/** Something found, and for a field what programs call it by. */
function Hit({ hit, onOpen, onCopy }: HitMembers) {
  const ref = refOf(hit)
  return (
    <>
      <Command.Item value={`${hit.path} ${hit.id}`} className={ITEM} onSelect={() => onOpen(hit)}>
        <span className="truncate">{hit.path}</span>
        <span className="text-label text-ink-3">{hit.kind}</span>
      </Command.Item>
      {ref !== undefined && (
        <Command.Item value={`${hit.path} ${hit.id} copy reference`} className={ITEM} onSelect={() => onCopy(ref)}>
          <span className="pl-4 text-ink-2">Copy its reference</span>
          <code className="truncate text-label text-ink-3">{ref}</code>
        </Command.Item>
      )}
    </>
  )
}

export function Palette({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const [text, setText] = useState('')
  const focusBack = useFocusBack(open)
  const navigate = useNavigate()
  const { data: hits = [] } = useHits(text)
  const act = (work: () => void) => () => {
    setText('')
    onClose()
    work()
  }
  const copy = (line: string): void => void copyText(line).then((isCopied) => isCopied && toast(`Copied ${line}`))
  const openHit = (hit: SearchHit): void => {
    remember(hit)
    act(() => void navigate({ ...placeOf(hit) }))()
  }
  const shown = { onOpen: openHit, onCopy: (ref: string) => act(() => copy(ref))() }
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[rgb(0_0_0/0.35)]" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={focusBack}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(600px,calc(100vw-24px))] -translate-x-1/2 overflow-hidden rounded-overlay border border-rule bg-surface shadow-overlay"
        >
          <Radix.Title className="sr-only">Search and act</Radix.Title>
          <Command label="Search and act" className="grid">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Go to, act, or find by name"
              className="h-11 border-b border-rule bg-surface px-4 text-dialog outline-none"
            />
            <Command.List className="max-h-[52vh] overflow-auto p-2">
              <Command.Empty className="px-2.5 py-3 text-ink-2">Nothing has that name.</Command.Empty>
              {hits.length > 0 && (
                <Group heading="Found">
                  {hits.map((hit) => (
                    <Hit key={`${hit.kind} ${hit.id}`} hit={hit} {...shown} />
                  ))}
                </Group>
              )}
              {hits.length === 0 && recent.length > 0 && (
                <Group heading="Recent">
                  {recent.map((hit) => (
                    <Hit key={`${hit.kind} ${hit.id}`} hit={hit} {...shown} />
                  ))}
                </Group>
              )}
              <Group heading="Go to">
                {PLACES.map(({ label, to, key }) => (
                  <Command.Item
                    key={to}
                    value={`go ${label}`}
                    className={ITEM}
                    onSelect={act(() => void navigate({ to }))}
                  >
                    {label}
                    <kbd className="text-label text-ink-3">g {key}</kbd>
                  </Command.Item>
                ))}
              </Group>
              <Group heading="Act">
                {ACTIONS.map(({ label, cli, ...place }) => (
                  <Command.Item key={label} value={label} className={ITEM} onSelect={act(() => void navigate(place))}>
                    {label}
                    <code className="truncate text-label text-ink-3 max-sm:hidden">{cli}</code>
                  </Command.Item>
                ))}
                <Command.Item
                  className={ITEM}
                  onSelect={act(() => copy(`${location.origin}${location.pathname}${location.search}`))}
                >
                  Copy a link to this page
                </Command.Item>
                <Command.Item className={ITEM} onSelect={act(() => lock('locked'))}>
                  Lock now
                </Command.Item>
              </Group>
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
