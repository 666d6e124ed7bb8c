import { PERMISSIONS, type Permission, shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { permissionWords } from './permission-words.ts'
import { isMaster } from './plan.ts'
import { agentQuery } from './queries.ts'

export function PermissionsForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [held, setHeld] = useState<readonly string[]>(agent.permissions)
  const toggle = (permission: Permission, on: boolean): void =>
    setHeld(on ? [...held, permission] : held.filter((one) => one !== permission))
  const save = useMutation({
    mutationFn: () => strongroom.agents.update(agent.agentId, { permissions: held }),
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(agentQuery(strongroom, agent.agentId))
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
  return (
    <FormDialog
      title={`Permissions of ${agent.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={held.length === 0}
      cli={shellLine`strongroom agent update ${agent.name} ${held.flatMap((one) => ['--permission', one])}`}
      onSubmit={() => save.mutate()}
    >
      <fieldset>
        <legend className="mb-2 text-ink-2">You can give only what you hold yourself.</legend>
        <ul className="max-h-72 divide-y divide-rule overflow-y-auto rounded-control border border-rule">
          {PERMISSIONS.map((permission) => (
            <li key={permission}>
              <label className="flex min-h-8 cursor-pointer items-start gap-2.5 px-3 py-1">
                <input
                  type="checkbox"
                  checked={held.includes(permission)}
                  onChange={({ target }) => toggle(permission, target.checked)}
                  className="mt-0.5 size-4 shrink-0 accent-ink"
                />
                <span>
                  {permissionWords(permission)}
                  <code className="block text-ink-3">{permission}</code>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
      {isMaster(held) && (
        <p role="alert" className="border-l-2 border-warn pl-3 text-warn">
          Making agents together with giving access makes a master agent.
        </p>
      )}
    </FormDialog>
  )
}
