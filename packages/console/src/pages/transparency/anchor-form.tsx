import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { Answer, Skeleton } from '../../ui/states.tsx'

/** What another machine needs to know this organisation by; holds nothing secret. */
export function AnchorForm({ onClose }: { onClose(): void }) {
  const strongroom = useStrongroom()
  const anchor = useQuery({
    queryKey: ['transparency', 'anchor'],
    queryFn: () => strongroom.transparency.trust.export(),
  })
  return (
    <Dialog title="Trust anchor" open onClose={onClose}>
      <div className="grid gap-4 p-5">
        <p className="text-ink-2">
          The organisation, the key of its log and today’s checkpoint. Whoever starts with it accepts no older log and
          no other organisation. Give it over a way that the server does not control.
        </p>
        <Answer of={anchor} what="the trust anchor" loading={<Skeleton rows={2} />}>
          {(text) => (
            <>
              <CopyLine label="Trust anchor" text={text} />
              <div>
                <Button kind="primary" onClick={() => download('strongroom-trust-anchor.txt', `${text}\n`)}>
                  Save as a file
                </Button>
              </div>
            </>
          )}
        </Answer>
        <CopyLine label="Copy as CLI" text="strongroom trust export > anchor.txt" />
      </div>
    </Dialog>
  )
}
