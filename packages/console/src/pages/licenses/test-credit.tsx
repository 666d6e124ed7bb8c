import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { moneyText } from '../billing/money.tsx'

/** Credit to try the sandbox with: once for each organisation, and it buys nothing real. */
export function TestCredit() {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const grant = useMutation({
    mutationFn: async () => strongroom.licenses.testCredit(),
    onSuccess: async ({ granted, available }) => {
      toast(`${moneyText(granted)} of test credit; ${moneyText(available)} to spend`)
      await queries.invalidateQueries({ queryKey: ['billing'] })
    },
  })
  return (
    <div className="grid justify-items-start gap-2">
      <Button busy={grant.isPending} onClick={() => grant.mutate()}>
        Take test credit
      </Button>
      <p className="text-label text-ink-3">For the licences of the sandbox, once for each organisation.</p>
      {grant.error && <ProblemNote error={grant.error} />}
    </div>
  )
}
