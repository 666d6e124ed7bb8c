import { shellLine } from '@strongroom/contract'
import { type Agent, keyWords } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isUnsound } from '../../queries.ts'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmByName, Dialog } from '../../ui/dialog.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { counted } from './blast-radius.ts'
import { Choices } from './choice.tsx'
import { KeyPrint } from './key-words.tsx'
import { TaskList, useRunner } from './task-list.tsx'

type Reason = 'removed' | 'compromised'

interface FormMembers {
  readonly agent: Agent
  readonly keyId: string
  onClose(): void
}

/** Signs that a key has ended. Then the vaults whose key it knew want another one. */
export function EndKeyForm({ agent, keyId, onClose }: FormMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [reason, setReason] = useState<Reason>('removed')
  const end = useMutation({
    mutationFn: () => strongroom.agents.revokeKey(keyId, reason),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agent', agent.agentId] }),
  })
  if (end.data) return <VaultsDue due={end.data.rotationDue} reason={reason} onClose={onClose} />
  return (
    <ConfirmByName
      name={agent.name}
      title={`End ${keyWords(keyId)}`}
      open
      onClose={onClose}
      action="End this key"
      busy={end.isPending}
      problem={end.error}
      cli={shellLine`strongroom agent revoke-key ${keyId} --reason ${reason}`}
      onSubmit={() => end.mutate()}
    >
      <KeyPrint keyId={keyId} />
      <Choices<Reason>
        legend="Why, for the log"
        value={reason}
        onChange={setReason}
        choices={[
          { value: 'removed', label: 'It is not needed any more', says: 'Nobody else is thought to have it.' },
          { value: 'compromised', label: 'Somebody else may have it', says: 'Everything it could open is exposed.' },
        ]}
      />
      <p>It cannot be undone. The key opens nothing new from then on; what it could open, its holder may have kept.</p>
    </ConfirmByName>
  )
}

interface DueMembers {
  readonly due: readonly string[]
  readonly reason: Reason
  onClose(): void
}

function VaultsDue({ due, reason, onClose }: DueMembers) {
  const strongroom = useStrongroom()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const tasks = due.map((vaultId) => ({
    id: vaultId,
    label: vaults.find((one) => one.vaultId === vaultId)?.name ?? vaultId,
    run: () =>
      strongroom.vaults.rotateKey(vaultId, { reason: reason === 'removed' ? 'member-removed' : 'key-compromised' }),
  }))
  const runner = useRunner(tasks)
  const unsound = tasks.filter(({ id }) => isUnsound(runner.stateOf(id).error))
  return (
    <Dialog title="The key has ended" open onClose={onClose}>
      <div className="grid gap-4 p-5">
        <p>
          {due.length === 0
            ? 'No vault needs another key because of it.'
            : `${counted(due.length, 'vault wants', 'vaults want')} a new key: the one in use was known to it. Everything in them is encrypted anew, here.`}
        </p>
        <TaskList tasks={tasks} stateOf={runner.stateOf} />
        {unsound.length > 0 && (
          <p>
            It was the last to sign{' '}
            {unsound.map(({ id, label }, i) => (
              <span key={id}>
                {i > 0 && ', '}
                <Link to="/vaults/$vaultId" params={{ vaultId: id }} className="underline">
                  {label}
                </Link>
              </span>
            ))}
            . Look at that first; a new key comes after it.
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{runner.isDone ? 'Close' : 'Later'}</Button>
          {!runner.isDone && (
            <Button kind="primary" busy={runner.isWorking} onClick={runner.run}>
              {runner.hasFailed ? 'Resume' : 'Give them new keys'}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
