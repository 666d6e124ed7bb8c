import { shellLine } from '@strongroom/contract'
import { endorseInvite } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { KeyPrint } from '../agents/key-words.tsx'
import { forgetInvite, keptUserId } from './invite-memory.ts'
import { acceptedKey, type Invite } from './queries.ts'

/** Verifies that whoever accepted had the link and holds the key, and signs for it. */
export function EndorsePersonForm({ invite, onClose }: { readonly invite: Invite; onClose(): void }) {
  const { strongroom, signing } = useOpenSession()
  const queries = useQueryClient()
  const [isSame, setSame] = useState(false)
  const { inviteId, email } = invite
  const kid = acceptedKey(invite)
  const endorse = useMutation({
    mutationFn: async () => {
      const userId = keptUserId(inviteId) ?? invite.userId
      // Somebody who has keys in the log already is nobody's invitee.
      const isKnown = async (principal: string): Promise<boolean> =>
        (await strongroom.transparency.keys(principal)).length > 0
      await endorseInvite(await signing(), { inviteId, userId }, isKnown)
    },
    onSuccess: async () => {
      forgetInvite(inviteId)
      toast(`${email} is one of you`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  return (
    <FormDialog
      title={`Sign for ${email}`}
      open
      onClose={onClose}
      action="Sign"
      busy={endorse.isPending}
      problem={endorse.error}
      disabled={!isSame || kid === undefined}
      cli={shellLine`strongroom user endorse ${email}`}
      onSubmit={() => endorse.mutate()}
    >
      <p>
        Somebody accepted the invite with this key. Their own screen shows its words; ask for them over the phone, or
        where you see each other.
      </p>
      {kid === undefined ? (
        <p role="alert">The acceptance cannot be read, so it cannot be signed.</p>
      ) : (
        <KeyPrint keyId={kid} />
      )}
      <CheckField
        label={`${email} reads the same words to me`}
        hint="Before it is signed, this page verifies that the key was made with your link."
        checked={isSame}
        onChange={({ target }) => setSame(target.checked)}
      />
    </FormDialog>
  )
}
