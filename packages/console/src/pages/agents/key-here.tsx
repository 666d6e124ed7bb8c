import { decodePem } from '@strongroom/protocol'
import { generateRuntimeKey, keyWords } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { askKeys } from '../../session/key-questions.ts'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { KeyPrint } from './key-words.tsx'
import type { KeysMembers } from './keys-step.tsx'
import type { MadeAgent } from './made-agent.ts'
import { descriptionOf, newLimitsOf, type Plan } from './plan.ts'
import { noteUnsaved } from './unsaved-keys.ts'

/** Keys by a worker, then the agent with them. A key that was made stays for another try if the server refuses the agent. */
function useMakeAgent(plan: Plan, onMade: (made: MadeAgent) => void) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const pem = useRef<string>(undefined)
  return useMutation({
    mutationFn: async (): Promise<MadeAgent> => {
      pem.current ??= (await askKeys({ kind: 'make-keys', bits: plan.bits })).pem
      const material = decodePem(pem.current ?? '')
      const { name, permissions } = plan
      const created = await strongroom.agents.create({
        name,
        description: descriptionOf(plan),
        permissions,
        ...newLimitsOf(plan),
        keys: { material },
      })
      pem.current = undefined
      const { agentId } = created.agent
      noteUnsaved(agentId)
      const { provider } = await generateRuntimeKey({ principal: `agent:${agentId}`, material })
      return { agentId, name, keyId: provider.kid, bundle: created.bundle, pem: created.privateKeyPem }
    },
    onSuccess: async (made) => {
      onMade(made)
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
}

export function KeyHere(members: KeysMembers) {
  const { plan, change, made, onMade, onBack } = members
  const make = useMakeAgent(plan, onMade)
  if (made) return <SaveKey {...members} made={made} />
  return (
    <div className="grid gap-4">
      <details className="rounded-control border border-rule">
        <summary className="min-h-8 cursor-pointer bg-surface px-3 py-1.5 font-[550]">Advanced</summary>
        <div className="border-t border-rule px-3 py-3">
          <SelectField
            label="Length of the RSA key"
            hint="3072 bits are enough for decades. 4096 take several times as long to make and to use."
            value={String(plan.bits)}
            onChange={({ target }) => change({ bits: target.value === '4096' ? '4096' : undefined })}
          >
            <option>3072</option>
            <option>4096</option>
          </SelectField>
        </div>
      </details>
      <p className="text-ink-2">
        If this key is lost, the agent cannot rotate it. You would archive the agent and make a new one.
      </p>
      {make.isPending && (
        <div role="status" className="grid gap-2">
          <div aria-hidden="true" className="h-0.5 overflow-hidden bg-raised">
            <div className="h-full w-1/4 animate-[progress-line_1s_linear_infinite] bg-link" />
          </div>
          <p>Your computer is choosing large primes. Nothing is sent.</p>
        </div>
      )}
      {make.error && <ProblemNote error={make.error} />}
      <div className="flex gap-2">
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" busy={make.isPending} onClick={() => make.mutate()}>
          {make.error ? 'Try again' : `Make its key and create ${plan.name}`}
        </Button>
      </div>
    </div>
  )
}

/** Its file name says whose it is, and its first two words which key. */
const pemName = ({ name, keyId }: MadeAgent): string =>
  `${name}-${keyWords(keyId).split('-').slice(0, 2).join('-')}.pem`

function SaveKey({ made, isSaved, onSaved, onContinue }: KeysMembers & { readonly made: MadeAgent }) {
  const [copied, copy] = useCopy()
  const keep = (work: () => void): void => {
    work()
    onSaved(true)
  }
  return (
    <div className="grid gap-4">
      <div className="grid gap-2">
        <p>
          The key of <strong>{made.name}</strong>. The same words are shown on the command line and in the log.
        </p>
        <KeyPrint keyId={made.keyId} />
      </div>
      <div className="grid gap-2">
        <p>
          Store it now. The bundle is everything the agent needs in one string; the PEM file is the private key alone.
          They are shown once.
        </p>
        <div className="flex flex-wrap gap-2">
          <Button
            kind="primary"
            onClick={() => keep(() => download(`${made.name}.bundle`, `${made.bundle.reveal()}\n`))}
          >
            Download bundle
          </Button>
          <Button onClick={() => keep(() => download(pemName(made), made.pem.reveal()))}>Download PEM</Button>
          <Button onClick={() => void copy(made.bundle.reveal()).then((isCopied) => isCopied && onSaved(true))}>
            {copied ? 'Copied' : 'Copy bundle'}
          </Button>
        </div>
      </div>
      <CheckField
        label="I stored it another way"
        checked={isSaved}
        onChange={({ target }) => onSaved(target.checked)}
      />
      <p className="text-ink-2">
        If this key is lost, the agent cannot rotate it. You would archive the agent and make a new one.
      </p>
      <div>
        <Button kind="primary" disabled={!isSaved} onClick={onContinue}>
          Continue
        </Button>
      </div>
    </div>
  )
}
