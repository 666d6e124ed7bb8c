import { shellLine, type User } from '@strongroom/contract'
import { type KeyCaps, keyWords } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { Answer } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { KeyPrint } from '../agents/key-words.tsx'
import { CapFields, type ExtraCap } from './cap-fields.tsx'

interface Members {
  readonly user: User
  onClose(): void
}

const extraOf = ({ caps }: KeyCaps): readonly ExtraCap[] =>
  caps.filter((cap): cap is ExtraCap => cap === 'agent-manager' || cap === 'dir-admin')

/** What the key of somebody may sign in the directory: by the verified log, and changed by a signature in it. */
export function CapsForm({ user, onClose }: Members) {
  const { transparency } = useOpenSession().strongroom
  const held = useQuery({
    queryKey: ['people', 'caps', user.userId],
    queryFn: async ({ signal }) => ({
      keys: await transparency.caps.show(`user:${user.userId}`, { signal }),
      needed: (await transparency.quorums.show({ signal })).directory,
    }),
  })
  const [chosen, setChosen] = useState<string>()
  const { keys = [], needed = 1 } = held.data ?? {}
  const key = keys.find(({ keyId }) => keyId === chosen) ?? keys[0]
  if (!key)
    return (
      <Dialog title={`What ${user.name} may sign`} open onClose={onClose}>
        <div className="grid gap-4 p-5">
          <Answer of={held} what="what this key may sign">
            {() => <p>They have no key in the log that counts.</p>}
          </Answer>
        </div>
      </Dialog>
    )
  return (
    <CapsOfKey key={`${key.keyId} ${key.entry}`} user={user} held={key} needed={needed} onClose={onClose}>
      {keys.length > 1 && (
        <SelectField label="Key" value={key.keyId} onChange={({ target }) => setChosen(target.value)}>
          {keys.map(({ keyId }) => (
            <option key={keyId} value={keyId}>
              {keyWords(keyId)}
            </option>
          ))}
        </SelectField>
      )}
    </CapsOfKey>
  )
}

interface KeyMembers extends Members {
  readonly held: KeyCaps
  readonly needed: number
  readonly children: ReactNode
}

function CapsOfKey({ user, held, needed, onClose, children }: KeyMembers) {
  const { transparency } = useOpenSession().strongroom
  const queries = useQueryClient()
  const { keyId, isConfirmed } = held
  const before = extraOf(held)
  const [extra, setExtra] = useState(before)
  const [isSame, setSame] = useState(false)
  const isMore = extra.some((cap) => !before.includes(cap)) || !isConfirmed
  const isChanged = isMore || extra.length !== before.length
  const sign = useMutation({
    mutationFn: async () => {
      const others = held.caps.filter((cap) => !before.some((one) => one === cap))
      const made = await transparency.caps.propose(keyId, [...others, ...extra])
      if (made) await transparency.caps.send(made.statement)
    },
    onSuccess: async () => {
      toast(`What ${user.name} may sign is in the log`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['people'] })
    },
  })
  const flags = [
    ...(extra.length > 0 ? extra.flatMap((cap) => ['--cap', cap]) : ['--none']),
    ...(needed > 1 ? ['--out', 'caps-statement.json'] : []),
  ]
  return (
    <FormDialog
      title={`What ${user.name} may sign`}
      open
      onClose={onClose}
      action="Sign"
      busy={sign.isPending}
      problem={sign.error}
      disabled={!isChanged || (isMore && !isSame) || needed > 1}
      cli={shellLine`strongroom key caps ${user.email} ${flags}`}
      onSubmit={() => sign.mutate()}
    >
      <p className="text-ink-2">
        Roles say what somebody may ask the server for. This says what everybody else accepts as signed by them.
      </p>
      {children}
      <KeyPrint keyId={keyId} />
      {!isConfirmed && (
        <p className="text-warn">
          A compromised key vouched for this one, so nothing that it signs counts. If it is really theirs, your
          signature confirms it.
        </p>
      )}
      <CapFields value={extra} onChange={setExtra} />
      {needed > 1 && (
        <p className="text-warn">
          The policy asks for {needed} signatures. Make the statement on the command line, and have it signed by the
          others.
        </p>
      )}
      {isMore && needed === 1 && (
        <CheckField
          label={`${user.name} reads the same words to me`}
          hint="Their own screen shows the words of their key under Settings."
          checked={isSame}
          onChange={({ target }) => setSame(target.checked)}
        />
      )}
    </FormDialog>
  )
}
