import { type ComponentProps, type ElementType, useEffect } from 'react'

// Stands in for react-remove-scroll: the page behind an overlay stands still, by a mark on the document instead of a style sheet
// written into it.

type Props = ComponentProps<'div'> & {
  readonly as?: ElementType
  readonly enabled?: boolean
  readonly allowPinchZoom?: boolean
  readonly shards?: unknown
}

export function RemoveScroll({ as: Element = 'div', enabled = true, allowPinchZoom: _, shards: __, ...rest }: Props) {
  useEffect(() => {
    if (!enabled) return
    const { dataset } = document.documentElement
    dataset.scroll = 'locked'
    return () => {
      delete dataset.scroll
    }
  }, [enabled])
  return <Element {...rest} />
}
