import { putAway, useRefusedText } from './clipboard.ts'
import { Dialog } from './dialog.tsx'
import { TextArea } from './field.tsx'

/** Wherever something can be copied: what is left to do where the browser refuses. */
export function CopyByHand() {
  const text = useRefusedText()
  if (text === undefined) return null
  return (
    <Dialog title="It could not be copied" open onClose={putAway}>
      <div className="p-5">
        <TextArea
          label="Copy it by hand"
          hint="The browser did not let this page copy. All of it is chosen: press Ctrl C, or ⌘ C on a Mac."
          className="font-mono text-code wrap-anywhere"
          rows={Math.min(12, text.split('\n').length + Math.floor(text.length / 60))}
          value={text}
          readOnly
          spellCheck={false}
          autoFocus
          onFocus={({ target }) => target.select()}
        />
      </div>
    </Dialog>
  )
}
