import { Dialog } from '../ui/dialog.tsx'
import { PLACES } from './places.ts'

export function ShortcutList({ open, onClose }: { readonly open: boolean; onClose(): void }) {
  const rows = [
    ['Ctrl K', 'Search and act'],
    ['/', 'To the filter of a page'],
    ['?', 'This list'],
    ['j k', 'From row to row, on Approvals and Activity'],
    ['a d o', 'Accept, decline or open the row, on Approvals'],
    ...PLACES.map(({ key, label }) => [`g ${key}`, label] as const),
  ]
  return (
    <Dialog title="Keys and help" open={open} onClose={onClose}>
      <div className="grid gap-4 p-5">
        <dl className="grid grid-cols-[80px_1fr] gap-y-1">
          {rows.map(([keys, what]) => (
            <div key={keys} className="contents">
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p className="text-ink-2">
          <a href="/docs">Documentation</a> · <a href="/docs/api">API reference</a>. Single keys can be turned off in
          Settings.
        </p>
      </div>
    </Dialog>
  )
}
