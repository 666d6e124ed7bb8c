import { type KeyboardEvent, type PointerEvent, useState } from 'react'

// One place of a plot is read at a time: by arrow keys or by the pointer. The plot is a slider to who listens, so each step is read out.

export interface Span {
  readonly first: number
  readonly last: number
}

interface CrosshairMembers {
  readonly count: number
  /** Which place lies under a pointer. */
  placeAt(event: PointerEvent): number
  /** What stands at a place, in words. */
  say(place: number): string
  readonly name: string
  /** A stretch was chosen: by dragging, or by Shift with the arrows and Enter. */
  onSpan?: ((span: Span) => void) | undefined
}

const spanOf = (a: number, b: number): Span => ({ first: Math.min(a, b), last: Math.max(a, b) })

export function useCrosshair({ count, placeAt, say, name, onSpan }: CrosshairMembers) {
  const [place, setPlace] = useState<number>()
  const [start, setStart] = useState<number>()
  const [isDragging, setDragging] = useState(false)
  const last = count - 1
  const at = place === undefined ? undefined : Math.min(place, last)
  const span = start !== undefined && at !== undefined && start !== at ? spanOf(Math.min(start, last), at) : undefined
  const choose = (chosen: Span | undefined): void => {
    setStart(undefined)
    if (chosen) onSpan?.(chosen)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = at ?? last
    const moves: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }
    const to = moves[event.key]
    if (to !== undefined) {
      event.preventDefault()
      setStart(onSpan && event.shiftKey ? (start ?? from) : undefined)
      setPlace(Math.max(0, Math.min(last, at === undefined && event.key.startsWith('Arrow') ? last : to)))
    } else if (event.key === 'Enter' && onSpan && at !== undefined) choose(span ?? { first: at, last: at })
    else if (event.key === 'Escape') setStart(undefined)
  }
  return {
    place: at,
    span,
    words: at === undefined ? undefined : say(at),
    members: {
      role: 'slider',
      tabIndex: 0,
      'aria-label': name,
      'aria-valuemin': 0,
      'aria-valuemax': Math.max(0, last),
      'aria-valuenow': at ?? last,
      'aria-valuetext': say(at ?? last),
      onKeyDown,
      onPointerMove: (event: PointerEvent) => setPlace(placeAt(event)),
      onPointerDown: (event: PointerEvent) => {
        if (!onSpan || event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setDragging(true)
        setPlace(placeAt(event))
        setStart(placeAt(event))
      },
      onPointerUp: () => {
        if (!isDragging) return
        setDragging(false)
        choose(span)
      },
      onPointerCancel: () => {
        setDragging(false)
        setStart(undefined)
      },
      onPointerLeave: () => !isDragging && setPlace(undefined),
      onBlur: () => {
        setPlace(undefined)
        setStart(undefined)
      },
    },
  } as const
}
