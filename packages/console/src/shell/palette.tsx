import * as Radix from '@radix-ui/react-dialog'
import type { SearchHit } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useState } from 'react'
import { lock, useStrongroom } from '../session/session.ts'
import { toast } from '../ui/toast.tsx'
import { PLACES } from './places.ts'

const ITEM =
  'flex min-h-8 cursor-pointer items-center justify-between gap-4 rounded-control px-2.5 data-[selected=true]:bg-raised'

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

export function Palette({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const { data: hits = [] } = useHits(text)
  const act = (work: () => void) => () => {
    setText('')
    onClose()
    work()
  }
  const copy = (ref: string): void => void navigator.clipboard.writeText(ref).then(() => toast(`Copied ${ref}`))
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[rgb(0_0_0/0.35)]" />
        <Radix.Content
          aria-describedby={undefined}
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
                <Command.Group heading="Found" className="text-label text-ink-3">
                  {hits.map((hit) => (
                    <Command.Item
                      key={`${hit.kind} ${hit.id}`}
                      value={`${hit.path} ${hit.id}`}
                      className={`${ITEM} text-body text-ink`}
                      onSelect={act(() => void navigate({ ...placeOf(hit) }))}
                    >
                      {hit.path}
                      <span className="text-label text-ink-3">{hit.kind}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              <Command.Group heading="Go to" className="text-label text-ink-3">
                {PLACES.map(({ label, to, key }) => (
                  <Command.Item
                    key={to}
                    value={`go ${label}`}
                    className={`${ITEM} text-body text-ink`}
                    onSelect={act(() => void navigate({ to }))}
                  >
                    {label}
                    <kbd className="text-label text-ink-3">g {key}</kbd>
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading="Act" className="text-label text-ink-3">
                <Command.Item
                  className={`${ITEM} text-body text-ink`}
                  onSelect={act(() => void navigate({ to: '/agents/new' }))}
                >
                  Make an agent
                  <code className="text-label text-ink-3">strongroom agent create</code>
                </Command.Item>
                <Command.Item
                  className={`${ITEM} text-body text-ink`}
                  onSelect={act(() => copy(`${location.origin}${location.pathname}`))}
                >
                  Copy a link to this page
                </Command.Item>
                <Command.Item className={`${ITEM} text-body text-ink`} onSelect={act(() => lock('locked'))}>
                  Lock now
                </Command.Item>
              </Command.Group>
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
