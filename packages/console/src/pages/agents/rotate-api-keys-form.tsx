import { shellLine } from '@strongroom/contract'
import { type Agent, formatBundle, parseBundle } from '@strongroom/sdk'
import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { TaskList, useRunner } from './task-list.tsx'

/** By agent: the bundle that was given for it. */
type Bundles = ReadonlyMap<string, string>

interface Read {
  readonly bundles: Bundles
  /** Names of files that are no bundle of an agent that was chosen. */
  readonly refused: readonly string[]
}

async function readBundles(files: readonly File[], agents: readonly Agent[]): Promise<Read> {
  const bundles = new Map<string, string>()
  const refused: string[] = []
  for (const file of files) {
    const text = (await file.text()).trim()
    try {
      const { agentId } = parseBundle(text)
      if (!agents.some((agent) => agent.agentId === agentId)) throw new Error('it is of another agent')
      bundles.set(agentId, text)
    } catch {
      refused.push(file.name)
    }
  }
  return { bundles, refused }
}

function BundleFiles({ read, onRead, agents }: { read: Read; onRead(read: Read): void; agents: readonly Agent[] }) {
  const found = agents.filter(({ agentId }) => read.bundles.has(agentId)).map(({ name }) => name)
  return (
    <div className="grid gap-1">
      <label className="grid gap-1">
        <span className="font-[550]">Their bundles, if you have them</span>
        <input
          type="file"
          multiple
          accept=".bundle,text/plain"
          className="min-h-8 text-ink-2"
          onChange={({ target }) => void readBundles([...(target.files ?? [])], agents).then(onRead)}
        />
      </label>
      <p className="text-label text-ink-3">
        The new keys are put into them. They are read here and go nowhere. Without one, the key alone is given.
      </p>
      {found.length > 0 && <p role="status">Found: {found.join(', ')}</p>}
      {read.refused.length > 0 && (
        <p role="alert" className="text-danger">
          No bundle of an agent that is chosen here: {read.refused.join(', ')}
        </p>
      )}
    </div>
  )
}

/** What is downloaded once: a line of JSON for each agent whose key was made. */
const fileOf = (agents: readonly Agent[], made: ReadonlyMap<string, string>, bundles: Bundles): string =>
  agents
    .flatMap(({ agentId, name }) => {
      const apiKey = made.get(agentId)
      if (apiKey === undefined) return []
      const old = bundles.get(agentId)
      const bundle = old === undefined ? undefined : formatBundle({ ...parseBundle(old), apiKey })
      return [`${JSON.stringify({ agent: name, agentId, apiKey, ...(bundle !== undefined && { bundle }) })}\n`]
    })
    .join('')

/** Rotates one after the other, and keeps the new keys until they were downloaded. */
function useRotation(agents: readonly Agent[], bundles: Bundles) {
  const strongroom = useStrongroom()
  const [made, setMade] = useState<ReadonlyMap<string, string>>(new Map())
  const [saved, setSaved] = useState(0)
  const tasks = agents.map(({ agentId, name }) => ({
    id: agentId,
    label: name,
    run: async () => {
      const apiKey = await strongroom.agents.rotateApiKey(agentId)
      setMade((before) => new Map(before).set(agentId, apiKey.reveal()))
    },
  }))
  const runner = useRunner(tasks)
  const save = (): void => {
    download('api-keys.ndjson', fileOf(agents, made, bundles))
    setSaved(made.size)
  }
  return { ...runner, tasks, made: made.size, isUnsaved: saved < made.size, save }
}

interface Members {
  readonly agents: readonly Agent[]
  onClose(): void
}

/** Another API key for each of several agents. The old ones are dead as each is made, so the new ones are not left behind unread. */
export function RotateApiKeysForm({ agents, onClose }: Members) {
  const [read, setRead] = useState<Read>({ bundles: new Map(), refused: [] })
  const rotation = useRotation(agents, read.bundles)
  const { isWorking, isUnsaved, isDone, hasFailed, made } = rotation
  const mustStay = isWorking || isUnsaved
  useBlocker({ shouldBlockFn: () => mustStay, enableBeforeUnload: () => mustStay })
  const count = agents.length === 1 ? '1 agent' : `${agents.length} agents`
  return (
    <Dialog title={`New API keys for ${count}`} open onClose={() => !mustStay && onClose()}>
      <div className="grid gap-4 p-5">
        <p>
          The old API key of each is dead at once, everywhere, when its new one is made. Then the agent is started again
          with the new key.
        </p>
        {!isWorking && !isDone && <BundleFiles read={read} onRead={setRead} agents={agents} />}
        <TaskList tasks={rotation.tasks} stateOf={rotation.stateOf} />
        {made > 0 && !isWorking && (
          <p role="status" className={isUnsaved ? 'text-warn' : ''}>
            {isUnsaved
              ? made === 1
                ? '1 new key is in this page only. Download it before you go on.'
                : `${made} new keys are in this page only. Download them before you go on.`
              : 'Downloaded. Nobody can show these keys again.'}
          </p>
        )}
        <CopyLine
          label="Copy as CLI"
          text={agents.map(({ name }) => shellLine`strongroom agent rotate-key ${name} --yes`).join('; ')}
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose} disabled={mustStay}>
            {made > 0 ? 'Close' : 'Cancel'}
          </Button>
          {!isDone && (
            <Button kind={hasFailed ? 'secondary' : 'danger'} busy={isWorking} onClick={rotation.run}>
              {hasFailed ? 'Try the rest again' : 'Rotate'}
            </Button>
          )}
          {made > 0 && (
            <Button kind="primary" disabled={isWorking} onClick={rotation.save}>
              Download the new keys
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
