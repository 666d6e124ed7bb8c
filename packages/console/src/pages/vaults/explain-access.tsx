import { shellLine } from '@strongroom/contract'
import { type KeyHolder, keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { byName } from '../../ui/name-order.ts'
import { Facts } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { explain } from './access-words.ts'
import { principalsQuery, useNames } from './principals.ts'

const Claim = ({ is }: { readonly is: boolean }) => <Status tone={is ? 'good' : 'quiet'}>{is ? 'yes' : 'no'}</Status>

interface Members {
  readonly vaultName: string
  readonly holders: readonly KeyHolder[]
  readonly who: string
  onClose(): void
}

/** Why somebody can or cannot: from the signed list and the wrapped keys, for anybody. */
export function ExplainAccess({ vaultName, holders, who: first, onClose }: Members) {
  const { strongroom, client } = useOpenSession()
  const { data: everybody = [] } = useQuery(principalsQuery(strongroom, client))
  const nameOf = useNames()
  const [who, setWho] = useState(first)
  const holder = holders.find(({ principal }) => principal === who)
  const { canDecrypt, canWrite, canShare, because } = explain(holder)
  const ids = new Set([...holders, ...everybody].map(({ principal }) => principal))
  const name = holder?.name || nameOf(who)
  const choices = [...ids].map((id) => ({ id, name: holders.find((one) => one.principal === id)?.name || nameOf(id) }))
  return (
    <Dialog title={`Access to ${vaultName}, explained`} open onClose={onClose}>
      <div className="grid gap-4 p-5">
        <SelectField label="Who" value={who} onChange={(event) => setWho(event.target.value)}>
          {choices.sort(byName).map(({ id, name: label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </SelectField>
        <Facts
          of={[
            ['Decrypt', <Claim key="decrypt" is={canDecrypt} />],
            ['Write', <Claim key="write" is={canWrite} />],
            ['Share', <Claim key="share" is={canShare} />],
            ['Because', because],
            ...(holder && holder.keyIds.length > 0
              ? [['Keys', holder.keyIds.map((id) => keyWords(id)).join(', ')] as const]
              : []),
          ]}
        />
        <p className="text-ink-2">
          The list and the roles are signed and were verified here. That the server still hands out a wrapped key is its
          own word.
        </p>
        <CopyLine label="Copy as CLI" text={shellLine`strongroom access explain ${name} ${vaultName}`} />
      </div>
    </Dialog>
  )
}
