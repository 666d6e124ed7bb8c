import { shellLine, type User } from '@strongroom/contract'
import { removeUser } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { ConfirmByName } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

export function RemovePersonForm({ user, onClose }: { readonly user: User; onClose(): void }) {
  const { strongroom, client, person } = useOpenSession()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => removeUser({ client }, user.userId, strongroom),
    onSuccess: async () => {
      toast(`${user.name} is removed, and their keys have ended`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  return (
    <ConfirmByName
      name={user.email}
      title={`Remove ${user.name}`}
      open
      onClose={onClose}
      action="Remove for good"
      busy={remove.isPending}
      problem={remove.error}
      cli={shellLine`strongroom user remove ${user.email}`}
      onSubmit={() => remove.mutate()}
    >
      <p>
        Sessions, API keys and roles end, and you sign that their keys have ended. What they could decrypt they may have
        kept: vaults that then want a new key say so in the list of vaults.
      </p>
      {remove.isError && (
        <p>
          Doing it again goes on where this stopped; once they are on no list, that is{' '}
          <code>strongroom user remove user:{user.userId}</code>.
        </p>
      )}
      {user.userId === person.userId && <p className="text-warn">This is you. You would be signed out for good.</p>}
    </ConfirmByName>
  )
}
