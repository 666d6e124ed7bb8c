import * as Radix from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'

interface Choice {
  readonly label: string
  onChoose(): void
  readonly isDanger?: boolean
}

/** A button with choices under it. */
export function Menu({ trigger, choices }: { readonly trigger: ReactNode; readonly choices: readonly Choice[] }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          className="z-50 min-w-44 rounded-overlay border border-rule bg-surface p-1 shadow-overlay"
        >
          {choices.map(({ label, onChoose, isDanger }) => (
            <Radix.Item
              key={label}
              onSelect={onChoose}
              className={`flex min-h-8 cursor-pointer items-center rounded-control px-2.5 outline-none data-highlighted:bg-raised ${isDanger ? 'text-danger' : ''}`}
            >
              {label}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
