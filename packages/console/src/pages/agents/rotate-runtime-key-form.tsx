import { shellLine } from '@strongroom/contract'
import { decodePem } from '@strongroom/protocol'
import { type Agent, formatBundle, keyWords, memoryTrust, parseBundle } from '@strongroom/sdk'
import { Strongroom } from '@strongroom/sdk/browser'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { askKeys, KeyError } from '../../session/key-questions.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { CheckField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { counted } from './blast-radius.ts'
import { BundleInput } from './bundle-file.tsx'

// Only the old key can bring in its successor, so this page acts as the agent for a moment. The new bundle is stored before the server
// hears of it: whatever breaks in between, one of the two works.

interface Ready {
  readonly bundle: string
  goOn(): void
  stop(): void
}

interface Rotated {
  readonly keyId: string
  readonly rewrapped: number
}

async function rotateWith(agent: Agent, text: string, onReady: (ready: Ready) => void): Promise<Rotated> {
  const given = parseBundle(text)
  if (given.agentId !== agent.agentId)
    throw new KeyError({ code: 'bundle_invalid', message: 'this is the bundle of another agent' })
  const { pem = '' } = await askKeys({ kind: 'make-keys' })
  const own = new Strongroom({
    bundle: text.trim(),
    server: location.origin,
    trustStore: memoryTrust(),
    cache: false,
    // The agent acts here for its maker, who has just given its bundle.
    dangerouslyAllowBrowserApiKey: true,
  })
  return own.agents.rotateRuntimeKey({
    keys: { material: decodePem(pem) },
    save: ({ privateKeyPem }) =>
      new Promise((resolve, reject) => {
        const bundle = formatBundle({ ...given, privateKey: privateKeyPem.reveal() })
        const stop = (): void => reject(new KeyError({ code: 'cancelled', message: 'stopped; nothing was changed' }))
        onReady({ bundle, goOn: resolve, stop })
      }),
  })
}

function Frame({ agent, onClose, children }: { readonly agent: Agent; onClose(): void; readonly children: ReactNode }) {
  return (
    <Dialog title={`Another private key for ${agent.name}`} open onClose={onClose} closesBy="keys">
      <div className="grid gap-4 p-5">{children}</div>
    </Dialog>
  )
}

export function RotateRuntimeKeyForm({ agent, onClose }: { readonly agent: Agent; onClose(): void }) {
  const queries = useQueryClient()
  const [bundle, setBundle] = useState('')
  const [ready, setReady] = useState<Ready>()
  const rotate = useMutation({
    mutationFn: () => rotateWith(agent, bundle, setReady),
    onSettled: () => setReady(undefined),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agent', agent.agentId] }),
  })
  const close = (): void => {
    ready?.stop()
    onClose()
  }
  if (rotate.data)
    return (
      <Frame agent={agent} onClose={onClose}>
        <p role="status">
          {agent.name} has a new key, <strong>{keyWords(rotate.data.keyId)}</strong>, linked to the old one in the log;{' '}
          {counted(rotate.data.rewrapped, 'vault key')} wrapped for it.
        </p>
        <p>Replace the bundle where the agent runs, and start it again. The old one reads nothing any more.</p>
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </div>
      </Frame>
    )
  if (ready)
    return (
      <Frame agent={agent} onClose={close}>
        <StoreNew agent={agent} ready={ready} />
      </Frame>
    )
  return (
    <Frame agent={agent} onClose={close}>
      <p>
        Best where the agent has its profile: there the old key and the new one are at hand. If somebody else may have
        the old key, end it instead.
      </p>
      <CopyLine label="Copy as CLI" text={shellLine`strongroom agent rotate-runtime-key ${agent.name}`} />
      <BundleInput
        value={bundle}
        onChange={setBundle}
        hint="Or do it here with its bundle, which stays in this page. If its key is lost, it cannot be rotated."
      />
      {rotate.error && <ProblemNote error={rotate.error} />}
      {rotate.isPending && <p role="status">Your computer is choosing large primes. Nothing is sent.</p>}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" busy={rotate.isPending} disabled={bundle.trim() === ''} onClick={() => rotate.mutate()}>
          Make the new key
        </Button>
      </div>
    </Frame>
  )
}

function StoreNew({ agent, ready }: { readonly agent: Agent; readonly ready: Ready }) {
  const [isSaved, setSaved] = useState(false)
  const [isGoing, setGoing] = useState(false)
  return (
    <>
      <p>The new key is made, and nobody has heard of it yet. Store the new bundle first.</p>
      <div>
        <Button
          kind="primary"
          onClick={() => {
            download(`${agent.name}.bundle`, `${ready.bundle}\n`)
            setSaved(true)
          }}
        >
          Download the new bundle
        </Button>
      </div>
      <CheckField
        label="I stored it another way"
        checked={isSaved}
        onChange={({ target }) => setSaved(target.checked)}
      />
      <div className="flex justify-end gap-2">
        <Button
          kind="primary"
          disabled={!isSaved}
          busy={isGoing}
          onClick={() => {
            setGoing(true)
            ready.goOn()
          }}
        >
          Hand over the vault keys
        </Button>
      </div>
    </>
  )
}
