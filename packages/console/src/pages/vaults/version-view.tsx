import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Reveal } from '../../ui/reveal.tsx'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { itemVersionQuery, openVersionField, type ShownVersion, type VersionField } from './item-version.ts'
import type { ShownItem } from './queries.ts'
import { RestoreVersionForm } from './restore-version-form.tsx'
import type { Restored } from './restored-version.tsx'

const WORDS: Readonly<Record<VersionField['difference'], string>> = {
  same: 'as it is now',
  'other value': 'another value than now',
  'other label': 'another label than now',
  'other export': 'exported otherwise than now',
  'removed since': 'not in the item any more',
  'added since': 'came later',
}

export const wordsOf = ({ difference }: VersionField): string => WORDS[difference]

function Fields({ item, version, fields }: { readonly item: ShownItem } & Pick<ShownVersion, 'version' | 'fields'>) {
  const strongroom = useStrongroom()
  return (
    <ul aria-label={`Fields of version ${version}`}>
      {fields.map((field) => (
        <li key={field.fieldId} className="grid gap-0.5 py-1">
          <span className="flex flex-wrap items-center gap-x-3">
            <code className="min-w-0 break-all">{field.label}</code>
            <span className="text-label text-ink-2">{wordsOf(field)}</span>
          </span>
          {field.difference !== 'added since' && (
            <span>
              <Reveal
                label={`${field.label} of version ${version}`}
                open={() => openVersionField(strongroom, item, version, field.fieldId)}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

interface Members {
  readonly vaultName: string
  readonly item: ShownItem
  readonly version: number
  readonly canWrite: boolean
  onRestored(restored: Restored): void
}

/** What the item was in one of its versions, and what differs now. */
export function VersionView({ vaultName, item, version, canWrite, onRestored }: Members) {
  const past = useQuery(itemVersionQuery(useStrongroom(), item, version))
  const [isAsking, setAsking] = useState(false)
  return (
    <Answer of={past} what={`version ${version}`} loading={<Skeleton rows={2} />}>
      {(shown) => (
        <div className="grid gap-2">
          {shown.name !== item.name && <p className="text-ink-2">It was called {shown.name}.</p>}
          {shown.website !== item.website && (
            <p className="break-all text-ink-2">Its website was {shown.website || 'not given'}.</p>
          )}
          {shown.fields.length === 0 && <p className="text-ink-2">It had no fields.</p>}
          <Fields item={item} version={version} fields={shown.fields} />
          {shown.isSame && <p className="text-ink-2">Nothing differs from the current version.</p>}
          {canWrite && !shown.isSame && (
            <span>
              <Button onClick={() => setAsking(true)}>Restore this version</Button>
            </span>
          )}
          {isAsking && (
            <RestoreVersionForm
              vaultName={vaultName}
              item={item}
              past={shown}
              onClose={() => setAsking(false)}
              onRestored={onRestored}
            />
          )}
        </div>
      )}
    </Answer>
  )
}
