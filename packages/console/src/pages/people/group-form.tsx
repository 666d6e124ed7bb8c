import { type Group, shellLine, type Tenant } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmByName, FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { usersQuery } from './queries.ts'
import { TenantRoleFields } from './tenant-role-fields.tsx'

type Member = Group['members'][number]
const keyOf = ({ type, id }: Member): string => `${type}:${id}`

interface FormMembers {
  readonly group: Group
  readonly tenants: readonly Tenant[]
  onClose(): void
}

/** Everybody who can be a member, by name. */
function useCandidates(): readonly (Member & { readonly name: string })[] {
  const { client, strongroom } = useOpenSession()
  const { data: users = [] } = useQuery(usersQuery(client))
  const { data: agents = [] } = useQuery(agentsQuery(strongroom))
  return [
    ...users
      .filter(({ status }) => status === 'active')
      .map(({ userId, name, email }) => ({ type: 'user' as const, id: userId, name: `${name} (${email})` })),
    ...agents
      .filter(({ status }) => status === 'active')
      .map(({ agentId, name }) => ({ type: 'agent' as const, id: agentId, name: `${name}, agent` })),
  ]
}

export function GroupForm(members: FormMembers) {
  const { group, tenants, onClose } = members
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const candidates = useCandidates()
  const [name, setName] = useState(group.name)
  const [chosen, setChosen] = useState<readonly string[]>(group.members.map(keyOf))
  const [roles, setRoles] = useState(group.tenantRoles)
  const [isEnding, setEnding] = useState(false)
  const isMembersChanged = [...chosen].sort().join() !== group.members.map(keyOf).sort().join()
  const isRolesChanged = JSON.stringify(roles) !== JSON.stringify(group.tenantRoles)
  const isNameChanged = name.trim() !== group.name
  const next = (): Member[] =>
    chosen.map((key) => ({ type: key.startsWith('user:') ? 'user' : 'agent', id: key.slice(key.indexOf(':') + 1) }))
  const save = useMutation({
    mutationFn: async () => {
      const params = { id: group.groupId }
      if (isNameChanged) await client.groups.update({ params, body: { name: name.trim() } })
      if (isMembersChanged) await client.groups.setMembers({ params, body: { members: next() } })
      if (isRolesChanged) await client.groups.setTenantRoles({ params, body: { tenantRoles: [...roles] } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['people'] }),
    onSuccess: onClose,
  })
  if (isEnding) return <RemoveGroup {...members} />
  const body = JSON.stringify({ members: next() })
  return (
    <FormDialog
      title={`Change ${group.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={name.trim() === '' || (!isMembersChanged && !isRolesChanged && !isNameChanged)}
      cli={shellLine`echo ${body} | strongroom api PUT /api/v1/platform/security-group/${group.groupId}/members --input -`}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} required />
      <fieldset>
        <legend className="mb-1 font-[550]">Members</legend>
        <ul className="max-h-56 divide-y divide-rule overflow-y-auto rounded-control border border-rule">
          {candidates.map((one) => (
            <li key={keyOf(one)}>
              <label className="flex min-h-8 cursor-pointer items-center gap-2.5 px-3">
                <input
                  type="checkbox"
                  className="size-4 accent-ink"
                  checked={chosen.includes(keyOf(one))}
                  onChange={({ target }) =>
                    setChosen(target.checked ? [...chosen, keyOf(one)] : chosen.filter((key) => key !== keyOf(one)))
                  }
                />
                {one.name}
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
      <TenantRoleFields tenants={tenants} value={roles} onChange={(value) => setRoles([...value])} />
      <div>
        <Button kind="quiet" onClick={() => setEnding(true)}>
          <span className="text-danger">Delete this group</span>
        </Button>
      </div>
    </FormDialog>
  )
}

function RemoveGroup({ group, onClose }: FormMembers) {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => client.groups.remove({ params: { id: group.groupId } }),
    onSuccess: async () => {
      toast(`Group ${group.name} is gone`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  return (
    <ConfirmByName
      name={group.name}
      title={`Delete ${group.name}`}
      open
      onClose={onClose}
      action="Delete"
      busy={remove.isPending}
      problem={remove.error}
      cli={shellLine`strongroom api DELETE /api/v1/platform/security-group/${group.groupId}`}
      onSubmit={() => remove.mutate()}
    >
      <p>Its members lose the roles it gave them, from the next request on.</p>
    </ConfirmByName>
  )
}
