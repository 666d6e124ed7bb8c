import { useMutation } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { ProblemNote } from '../../ui/states.tsx'

/** Where the policy of the organisation does not name the key of this server yet: a signed change, once. */
export function EnableLicenses({ onEnabled }: { onEnabled(): void }) {
  const strongroom = useStrongroom()
  const enable = useMutation({ mutationFn: async () => strongroom.licenses.enable(), onSuccess: onEnabled })
  return (
    <div className="grid gap-3 border-l-2 border-warn bg-raised px-3 py-2">
      <p>
        <strong>Licences cannot be handed over in your organisation yet.</strong> Its policy must name the key that this
        server signs hand-offs with. Whoever has that key can seal credentials to buyers, and nothing else.
      </p>
      <div>
        <Button busy={enable.isPending} onClick={() => enable.mutate()}>
          Sign the policy that names it
        </Button>
      </div>
      <CopyLine label="Copy as CLI" text="strongroom license enable" />
      {enable.error && <ProblemNote error={enable.error} />}
    </div>
  )
}
