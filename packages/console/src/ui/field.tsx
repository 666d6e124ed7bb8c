import { type ComponentProps, type ReactNode, useId } from 'react'
import { classes } from './classes.ts'

export const inputClasses =
  'w-full min-h-8 rounded-control border border-edge bg-surface px-2.5 py-1 text-ink aria-invalid:border-danger disabled:opacity-60'

interface FieldMembers {
  readonly label: string
  /** What it is for, said before anything is typed. */
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

interface Wired {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

/** A label, a control, a hint and an error, wired to each other. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldMembers & { readonly children: (wired: Wired) => ReactNode }) {
  const id = useId()
  const noteId = `${id}-note`
  const hasNote = hint !== undefined || error !== undefined
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-[550]">
        {label}
      </label>
      {children({ id, 'aria-describedby': hasNote ? noteId : undefined, 'aria-invalid': error ? true : undefined })}
      {hasNote && (
        <div id={noteId} className={classes('text-label', error ? 'text-danger' : 'text-ink-3')}>
          {error ?? hint}
        </div>
      )}
    </div>
  )
}

export function TextField({ label, hint, error, className, ...rest }: FieldMembers & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <input
          {...wired}
          data-first={rest.autoFocus}
          className={classes(inputClasses, className)}
          autoComplete="off"
          {...rest}
        />
      )}
    </Field>
  )
}

export function TextArea({ label, hint, error, className, ...rest }: FieldMembers & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <textarea
          {...wired}
          data-first={rest.autoFocus}
          className={classes(inputClasses, 'py-1.5', className)}
          rows={5}
          {...rest}
        />
      )}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  error,
  className,
  children,
  ...rest
}: FieldMembers & ComponentProps<'select'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <select {...wired} className={classes(inputClasses, className)} {...rest}>
          {children}
        </select>
      )}
    </Field>
  )
}

export function CheckField({ label, hint, ...rest }: Omit<FieldMembers, 'error'> & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className="flex min-h-6 items-start gap-2 py-0.5">
      <input id={id} type="checkbox" className="mt-0.5 size-4 shrink-0 accent-ink" {...rest} />
      <label htmlFor={id}>
        {label}
        {hint !== undefined && <span className="block text-label text-ink-3">{hint}</span>}
      </label>
    </div>
  )
}
