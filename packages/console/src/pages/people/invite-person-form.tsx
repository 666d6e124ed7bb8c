import { shellLine } from '@strongroom/contract'
import { type InviteOptions, makeUserInvite, type UserInvite } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CapFields, type ExtraCap } from './cap-fields.tsx'
import { keepInvite } from './invite-memory.ts'
import { tenantsQuery } from './queries.ts'

const DAY_MS = 86_400_000
export function InvitePersonForm({ onClose }: { onClose(): void }) {
  const { client, signing } = useOpenSession()
  const queries = useQueryClient()
  const { data: all = [] } = useQuery(tenantsQuery(client))
  const tenants = all.filter(({ status }) => status === 'active')
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [tenant, setTenant] = useState('')
  const [days, setDays] = useState('7')
  const [caps, setCaps] = useState<readonly ExtraCap[]>([])
  const tenantId = tenant || (tenants[0]?.tenantId ?? '')
  const invite = useMutation({
    mutationFn: async (): Promise<UserInvite> => {
      const options: InviteOptions = {
        email: email.trim(),
        name: name.trim() || email.trim(),
        tenantId,
        caps: ['member' as const, ...caps].sort(),
        expiresInMs: Number(days) * DAY_MS,
      }
      const made = await makeUserInvite(await signing(), options)
      keepInvite(made.inviteId, made.userId)
      return made
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['people'] }),
  })
  if (invite.data) return <InviteLink link={invite.data.link} email={email.trim()} onClose={onClose} />
  const flags = [
    ...(name.trim() === '' ? [] : ['--name', name.trim()]),
    ...(tenants.length > 1 ? ['--tenant', tenantId] : []),
    ...caps.flatMap((cap) => ['--cap', cap]),
    ...(days === '7' ? [] : ['--expires', `${days}d`]),
  ]
  return (
    <FormDialog
      title="Invite a person"
      open
      onClose={onClose}
      action="Make the link"
      busy={invite.isPending}
      problem={invite.error}
      disabled={!/^[^\s@]+@[^\s@]+$/.test(email.trim()) || tenantId === ''}
      cli={shellLine`strongroom user invite ${email.trim() || 'EMAIL'} ${flags}`}
      onSubmit={() => invite.mutate()}
    >
      <TextField label="Email" type="email" value={email} onChange={({ target }) => setEmail(target.value)} required />
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
      {tenants.length > 1 && (
        <SelectField label="Tenant" value={tenantId} onChange={({ target }) => setTenant(target.value)}>
          {tenants.map((one) => (
            <option key={one.tenantId} value={one.tenantId}>
              {one.name}
            </option>
          ))}
        </SelectField>
      )}
      <SelectField label="The link is good for" value={days} onChange={({ target }) => setDays(target.value)}>
        <option value="1">1 day</option>
        <option value="7">7 days</option>
        <option value="30">30 days</option>
      </SelectField>
      <CapFields value={caps} onChange={setCaps} />
    </FormDialog>
  )
}

interface LinkMembers {
  readonly link: string
  readonly email: string
  onClose(): void
}

function InviteLink({ link, email, onClose }: LinkMembers) {
  return (
    <Dialog title="The link, shown this once" open onClose={onClose} closesBy="buttons">
      <div className="grid gap-4 p-5">
        <CopyLine label={`For ${email} alone`} text={`${location.origin}/join#${link}`} />
        <p>
          Whoever has this link can become {email}. Give it to them over a channel of your own, such as a message you
          trust or by hand: this server never sees the part after the #, so it cannot send it for you.
        </p>
        <p>
          When they have made their keys, they wait under Invites. Compare the words of their key, then sign for it.
        </p>
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            I have it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
