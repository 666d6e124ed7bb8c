import { shellLine } from '@strongroom/contract'
import { principalOf } from '@strongroom/protocol'
import { keyWords, type Unsound } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useNames } from './principals.ts'
import { reviewQuery } from './queries.ts'

// In place of a vault or a project that was last signed by a compromised key: what of it, and the way out.

interface AttestMembers {
  readonly error: unknown
  /** What was signed, and by which key. */
  readonly parts: readonly (readonly [what: string, by: string])[]
  readonly name: string
  readonly kind: 'vault' | 'project'
  readonly slug: string
  readonly children?: ReactNode
  attest(): Promise<unknown>
}

export function Attest({ error, parts, name, kind, slug, children, attest }: AttestMembers) {
  const queries = useQueryClient()
  const nameOf = useNames()
  const [isOpen, setOpen] = useState(false)
  const sign = useMutation({
    mutationFn: attest,
    onSuccess: () => toast(`${name} is signed by you`),
    onSettled: async () => {
      for (const key of [kind, `${kind}s`]) await queries.invalidateQueries({ queryKey: [key] })
    },
  })
  const close = (): void => setOpen(false)
  return (
    <>
      <div className="max-w-2xl px-6 pt-6">
        <ProblemNote error={error} />
      </div>
      <Section
        title="Last signed by a compromised key"
        actions={
          <Button kind="primary" disabled={parts.length === 0} onClick={() => setOpen(true)}>
            Sign it anew
          </Button>
        }
      >
        <div className="grid max-w-2xl gap-3">
          <p className="text-ink-2">
            {parts.length === 0
              ? 'Nothing of it has to be signed anew. Load the page again.'
              : 'Nobody is shown it until somebody who may change it has looked at this and signs it, as it is.'}
          </p>
          <Facts of={parts.map(([what, by]) => [what, `${nameOf(principalOf(by))}, ${keyWords(by)}`] as const)} />
          {children}
        </div>
      </Section>
      {isOpen && (
        <FormDialog
          title={`Sign ${name} anew`}
          open
          onClose={() => !sign.isPending && close()}
          action="Sign it"
          busy={sign.isPending}
          problem={sign.error}
          cli={shellLine`strongroom ${kind} attest ${slug}`}
          onSubmit={() => sign.mutate()}
        >
          <p>
            What is listed is signed with your key, as it is now. If there turns out to be more, it is refused, to be
            looked at again. Values that may have been changed are still to be replaced.
          </p>
        </FormDialog>
      )}
    </>
  )
}

const partsOf = ({ head, access, admins, items }: Unsound): AttestMembers['parts'] => [
  ...(head === null ? [] : [['The vault as a whole', head] as const]),
  ...(access === null ? [] : [['Who has access', access] as const]),
  ...(admins === null ? [] : [['Who administers it', admins] as const]),
  ...items.map(({ name, labels, by }) => [labels.length > 0 ? `${name} (${labels.join(', ')})` : name, by] as const),
]

function Readers({ of: { access, admins, readers } }: { readonly of: Unsound }) {
  const nameOf = useNames()
  if (access === null && admins === null) return null
  return (
    <>
      <p>
        Look for somebody who does not belong here. They get the new key of the vault, too; take their access away
        afterwards.
      </p>
      <Facts of={readers.map(({ principal, role }) => [nameOf(principal), role.toLowerCase()] as const)} />
    </>
  )
}

export function AttestVault({ vaultId, error }: { readonly vaultId: string; readonly error: unknown }) {
  const strongroom = useStrongroom()
  const review = useQuery(reviewQuery(strongroom, vaultId))
  return (
    <Answer of={review} what="this vault">
      {(found) => (
        <Attest
          error={error}
          kind="vault"
          name={found.name}
          slug={found.name}
          parts={partsOf(found)}
          attest={() => strongroom.vaults.attest(found)}
        >
          <Readers of={found} />
        </Attest>
      )}
    </Answer>
  )
}
