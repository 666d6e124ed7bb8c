import { checkEvidence, type EvidenceVerdict, PROTOCOL_ERRORS, ProtocolError } from '@strongroom/protocol'
import { useMutation } from '@tanstack/react-query'
import { type DragEvent, useId, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'

const MAX_BYTES = 32 * 1024 * 1024

class UnreadableFile extends Error {}

/** Runs the refused verification again from what the file holds. The file is of somebody else: nothing in it is believed. */
async function check(file: File): Promise<EvidenceVerdict> {
  if (file.size > MAX_BYTES) throw new UnreadableFile('The file is larger than evidence can be.')
  let parsed: unknown
  try {
    parsed = JSON.parse(await file.text())
  } catch {
    throw new UnreadableFile('The file is not JSON, so it is no evidence file.')
  }
  try {
    return await checkEvidence(parsed)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    // About a file that a person chose, and not about an answer of the server: no alarm.
    throw new UnreadableFile(`The file does not have the form of evidence: ${error.message}.`)
  }
}

function conclusion({ claimed, found, reproduced, checkable }: EvidenceVerdict): string {
  if (!checkable) return 'The answer is shown to be looked at: there is nothing in it that can be run again.'
  if (reproduced) return `Run again in this browser, the answer is refused for the same reason: ${claimed}.`
  if (found === null)
    return 'The public part of the answer verifies. Only a holder of the keys can see what was refused.'
  return `Run again, the answer is refused for another reason: ${found}.`
}

function Verdict({ name, verdict }: { readonly name: string; readonly verdict: EvidenceVerdict }) {
  const { claimed, found, reproduced, checkpoints } = verdict
  return (
    <div role="status" className="grid gap-3">
      <p>
        <Status tone={reproduced ? 'bad' : 'warn'}>{reproduced ? 'reproduced' : 'not reproduced'}</Status>{' '}
        {conclusion(verdict)}
      </p>
      <Facts
        of={[
          ['File', name],
          ['Claimed', `${claimed}: ${PROTOCOL_ERRORS[claimed][1]}`],
          ['Found', found === null ? 'nothing to refuse' : found],
          ...checkpoints.map(
            ({ size, root }, at) =>
              [
                at === 0 ? 'Known before' : 'In the answer',
                <span key={root} className="flex flex-wrap gap-x-2">
                  {size} entries, root <MonoId id={root} keep={8} />
                </span>,
              ] as const,
          ),
        ]}
      />
    </div>
  )
}

/** A file that an alarm left, here or on another machine, checked in this page. It is not sent anywhere. */
export function EvidenceCheck() {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const run = useMutation({ mutationFn: async (file: File) => ({ name: file.name, verdict: await check(file) }) })
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file) run.mutate(file)
  }
  return (
    <Section title="Check an evidence file">
      <div className="grid max-w-3xl gap-4">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping has a button beside it that does the same */}
        <div
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
          className={`flex flex-wrap items-center gap-3 border border-dashed px-4 py-5 ${isOver ? 'border-link bg-raised' : 'border-edge'}`}
        >
          <Button onClick={() => input.current?.click()} busy={run.isPending}>
            Choose a file
          </Button>
          <label htmlFor={id} className="text-ink-2">
            or drop an evidence file here. It stays in this browser.
          </label>
          <input
            ref={input}
            id={id}
            type="file"
            accept=".json,application/json"
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              const [file] = target.files ?? []
              if (file) run.mutate(file)
              target.value = ''
            }}
          />
        </div>
        {run.error && (
          <p role="alert" className="border-l-2 border-danger bg-raised px-3 py-2">
            {run.error.message}
          </p>
        )}
        {run.data && <Verdict {...run.data} />}
      </div>
    </Section>
  )
}
