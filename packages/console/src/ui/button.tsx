import type { ComponentProps, MouseEvent } from 'react'
import { classes } from './classes.ts'

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger'

const KINDS: Record<Kind, string> = {
  primary: 'bg-ink text-surface hover:opacity-90',
  secondary: 'border border-edge bg-surface hover:bg-raised',
  quiet: 'hover:bg-raised',
  danger: 'bg-danger text-on-danger hover:opacity-90',
}

/** How a button looks, for links that look like one. */
export const buttonClasses = (kind: Kind = 'secondary'): string =>
  classes(
    'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-control px-3 font-[550] whitespace-nowrap no-underline',
    'cursor-pointer transition-colors duration-100 disabled:cursor-not-allowed disabled:opacity-50 hover:no-underline',
    kind === 'primary' || kind === 'danger' ? '' : 'text-ink',
    KINDS[kind],
  )

export interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: Kind
  /** Its work is under way: it cannot be pressed again, and says so. */
  readonly busy?: boolean
}

export function Button({ kind, busy, disabled, className, type = 'button', onClick, children, ...rest }: ButtonProps) {
  const isOnce = type === 'submit' || busy !== undefined
  // A page that is busy hears both presses of a double click before it can say that the work is under way.
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    if (isOnce && event.detail > 1) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      type={type}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classes(buttonClasses(kind), className)}
      onClick={press}
      {...rest}
    >
      {children}
      {busy && <span aria-hidden="true">…</span>}
    </button>
  )
}

/** A button that is an icon; its name is said and shown on hover. */
export function IconButton({
  label,
  isSmall = false,
  className,
  children,
  ...rest
}: ComponentProps<'button'> & { readonly label: string; readonly isSmall?: boolean }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classes(
        'inline-grid cursor-pointer place-items-center rounded-control text-ink-2 hover:bg-raised hover:text-ink',
        isSmall ? 'size-6' : 'size-8',
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  )
}
