import { TextArea } from '../../ui/field.tsx'

interface BundleMembers {
  readonly value: string
  onChange(text: string): void
  readonly hint: string
}

/** A bundle, from a file or pasted. It is read here and goes nowhere else. */
export function BundleInput({ value, onChange, hint }: BundleMembers) {
  return (
    <div className="grid gap-2">
      <TextArea
        label="Its bundle"
        hint={hint}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        className="font-mono text-code"
      />
      <label className="grid gap-1">
        <span className="text-label text-ink-3">or from its file</span>
        <input
          type="file"
          accept=".bundle,text/plain"
          className="min-h-8 text-ink-2"
          onChange={({ target }) => {
            const [file] = target.files ?? []
            void file?.text().then(onChange)
          }}
        />
      </label>
    </div>
  )
}
