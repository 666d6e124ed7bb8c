import { useIsFetching } from '@tanstack/react-query'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { CircleHelp, Lock, Menu as MenuIcon, Search, SunMoon, UserRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { lock, signOut, useOpenSession } from '../session/session.ts'
import { buttonClasses, IconButton } from '../ui/button.tsx'
import { CopyByHand } from '../ui/copy-by-hand.tsx'
import { Menu } from '../ui/menu.tsx'
import { part } from '../ui/part.tsx'
import { Toasts, toast } from '../ui/toast.tsx'
import { Rail } from './rail.tsx'
import { useShortcuts } from './shortcuts.ts'
import { setTheme, useTheme } from './theme.ts'

interface Closing {
  onClose(): void
}

/** What lies over the page and does not come leaves the page as it is: whoever opens it again asks for it again. */
function NotThere({ onClose }: Closing) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: said once
  useEffect(() => {
    toast('A part of the console could not be loaded. Try again in a moment.')
    onClose()
  }, [])
  return null
}

// Loaded when they are first opened.
const Palette = part('palette', async () => (await import('./palette.tsx')).Palette, NotThere)
const Shortcuts = part('shortcuts', async () => (await import('./shortcut-list.tsx')).ShortcutList, NotThere)

function ProgressLine() {
  const isBusy = useIsFetching() > 0
  return (
    <div aria-hidden="true" className="absolute inset-x-0 bottom-[-1px] h-0.5 overflow-hidden">
      {isBusy && <div className="h-full w-1/4 animate-[progress-line_1s_linear_infinite] bg-link" />}
    </div>
  )
}

function ThemeButton() {
  const theme = useTheme()
  const next = theme === 'system' ? 'dark' : theme === 'dark' ? 'light' : 'system'
  return (
    <IconButton label={`Appearance: ${theme}. Change to ${next}`} onClick={() => setTheme(next)}>
      <SunMoon size={16} strokeWidth={1.5} />
    </IconButton>
  )
}

interface BarMembers {
  onRail(): void
  onPalette(): void
  onHelp(): void
}

function Bar({ onRail, onPalette, onHelp }: BarMembers) {
  const { person } = useOpenSession()
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-rule bg-bg px-3">
      <IconButton label="Places" onClick={onRail} className="md:hidden">
        <MenuIcon size={16} strokeWidth={1.5} />
      </IconButton>
      <a href="#page" className={`${buttonClasses('primary')} absolute -top-20 left-3 z-50 focus:top-2`}>
        To the page
      </a>
      <span className="px-2 font-[650] tracking-tight">Strongroom</span>
      <button
        type="button"
        onClick={onPalette}
        className="ml-auto flex h-8 min-w-8 cursor-pointer items-center gap-2 rounded-control border border-edge bg-surface px-2.5 text-ink-2 hover:bg-raised md:ml-4 md:w-72"
      >
        <Search size={14} strokeWidth={1.5} />
        <span className="max-md:sr-only">Search and act</span>
        <kbd className="ml-auto text-label max-md:hidden">Ctrl K</kbd>
      </button>
      <div className="flex items-center md:ml-auto">
        <IconButton label="Keys and help" onClick={onHelp} className="max-sm:hidden">
          <CircleHelp size={16} strokeWidth={1.5} />
        </IconButton>
        <ThemeButton />
        <IconButton label="Lock now" onClick={() => lock('locked')}>
          <Lock size={16} strokeWidth={1.5} />
        </IconButton>
        <Menu
          trigger={
            <button type="button" className={buttonClasses('quiet')}>
              <span className="max-w-40 truncate max-sm:sr-only">{person.email}</span>
              <UserRound size={16} strokeWidth={1.5} className="sm:hidden" aria-hidden="true" />
            </button>
          }
          choices={[
            { label: 'Keys and help', onChoose: onHelp },
            { label: 'Lock', onChoose: () => lock('locked') },
            { label: 'Sign out', onChoose: () => void signOut() },
          ]}
        />
      </div>
      <ProgressLine />
    </header>
  )
}

export function Shell() {
  const [rail, setRail] = useState(false)
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // The page before stays until the next one is there: this says which one it is.
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rail closes when the page changes
  useEffect(() => setRail(false), [path])
  useShortcuts({ onPalette: () => setPalette(true), onHelp: () => setHelp(true) })
  return (
    <>
      <Bar onRail={() => setRail(!rail)} onPalette={() => setPalette(true)} onHelp={() => setHelp(true)} />
      <div className="mx-auto flex max-w-[1648px]" data-shown={shown}>
        <Rail isOpen={rail} />
        <Outlet />
      </div>
      {palette && <Palette open onClose={() => setPalette(false)} />}
      {help && <Shortcuts open onClose={() => setHelp(false)} />}
      <CopyByHand />
      <Toasts />
    </>
  )
}
