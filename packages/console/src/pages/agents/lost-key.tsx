import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { noteSaved } from './unsaved-keys.ts'

/** The page was closed between making a key and storing it: nobody has it, so the agent is of no use. */
export function LostKey({ agentId, onGone }: { readonly agentId: string; onGone(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const archive = useMutation({
    mutationFn: () => strongroom.agents.archive(agentId),
    onSuccess: async () => {
      noteSaved(agentId)
      await queries.invalidateQueries({ queryKey: ['agents'] })
      onGone()
    },
  })
  return (
    <div role="alert" className="grid gap-3 border-l-2 border-warn pl-3">
      <p>
        <strong className="text-warn">Key not confirmed.</strong> This agent exists, and its key was only in a page that
        is gone. If you did not store it, archive the agent: it opens nothing. Archiving cannot be undone.
      </p>
      {archive.error && <ProblemNote error={archive.error} />}
      <div>
        <Button busy={archive.isPending} onClick={() => archive.mutate()}>
          Archive it and make another
        </Button>
      </div>
    </div>
  )
}
