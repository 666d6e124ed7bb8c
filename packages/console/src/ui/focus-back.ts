import { useRef } from 'react'

// What is laid over a page gives the focus back when it closes. Radix gives it to a trigger of its own, and ours have none: a keyboard
// would begin again at the top of the page.

/** What has the focus; of a choice, which goes with its menu, the button of that menu. */
function opener(): HTMLElement | null {
  const { activeElement } = document
  const menu = activeElement?.closest('[role=menu]')
  const found = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : activeElement
  return found instanceof HTMLElement && found !== document.body ? found : null
}

/** For `onCloseAutoFocus`. What is gone meanwhile is replaced by the page; what took the focus meanwhile keeps it. */
export function useFocusBack(open: boolean): (event: Event) => void {
  const wasOpen = useRef(false)
  const from = useRef<HTMLElement>(null)
  // While it is rendered: a field of it may take the focus before any effect.
  if (open && !wasOpen.current) from.current = opener()
  wasOpen.current = open
  return (event) => {
    event.preventDefault()
    if (document.activeElement !== document.body) return
    const back = from.current?.isConnected ? from.current : document.querySelector<HTMLElement>('#page')
    back?.focus()
  }
}
