import { shellLine } from '@strongroom/contract'
import { type Agent, formatBundle, parseBundle, type Secret } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { ProblemNote } from '../../ui/states.tsx'
import { BundleInput } from './bundle-file.tsx'

export function RotateApiKeyForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const rotate = useMutation({
    mutationFn: () => strongroom.agents.rotateApiKey(agent.agentId),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agent', agent.agentId] }),
  })
  if (rotate.data) return <NewApiKey agent={agent} apiKey={rotate.data} onClose={onClose} />
  return (
    <FormDialog
      title={`Another API key for ${agent.name}`}
      open
      onClose={onClose}
      action="Rotate"
      kind="danger"
      busy={rotate.isPending}
      problem={rotate.error}
      cli={shellLine`strongroom agent rotate-key ${agent.name}`}
      onSubmit={() => rotate.mutate()}
    >
      <p>
        The old API key is dead at once, everywhere. Have the bundle of the agent at hand: the new key goes into it, and
        the agent is started again with it.
      </p>
    </FormDialog>
  )
}

interface NewMembers {
  readonly agent: Agent
  readonly apiKey: Secret
  onClose(): void
}

function NewApiKey({ agent, apiKey, onClose }: NewMembers) {
  const [bundle, setBundle] = useState('')
  const [problem, setProblem] = useState<unknown>()
  const write = (): void => {
    try {
      const next = formatBundle({ ...parseBundle(bundle), apiKey: apiKey.reveal() })
      download(`${agent.name}.bundle`, `${next}\n`)
      setProblem(undefined)
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <Dialog title="The new API key" open onClose={onClose} closesBy="buttons">
      <div className="grid gap-4 p-5">
        <CopyLine label="Shown this once" text={apiKey.reveal()} />
        <BundleInput
          value={bundle}
          onChange={setBundle}
          hint="Give the old bundle here to get one with the new key. It stays in this page."
        />
        {problem !== undefined && <ProblemNote error={problem} />}
        <div className="flex justify-end gap-2">
          <Button disabled={bundle.trim() === ''} onClick={write}>
            Download the new bundle
          </Button>
          <Button kind="primary" onClick={onClose}>
            I have it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
