import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ProblemNote } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'

type State = 'waiting' | 'working' | 'done' | 'failed'

/** One of several things to be done; each on its own, so that what failed can be done again. */
export interface Task {
  readonly id: string
  readonly label: string
  run(): Promise<unknown>
}

interface Outcome {
  readonly state: State
  readonly error?: unknown
}

const STATES: Record<State, { readonly tone: Tone; readonly word: string }> = {
  waiting: { tone: 'quiet', word: 'waits' },
  working: { tone: 'quiet', word: 'under way' },
  done: { tone: 'good', word: 'done' },
  failed: { tone: 'bad', word: 'failed' },
}

/** Runs what is not done yet, one after the other; a failure does not stop the others. */
export function useRunner(tasks: readonly Task[]) {
  const queries = useQueryClient()
  // A mutation, so that what does not verify is an alarm here as everywhere.
  const { mutateAsync } = useMutation({ mutationFn: (task: Task) => task.run() })
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({})
  const stateOf = (id: string): Outcome => outcomes[id] ?? { state: 'waiting' }
  const note = (id: string, outcome: Outcome): void => setOutcomes((before) => ({ ...before, [id]: outcome }))
  const run = async (): Promise<void> => {
    for (const task of tasks) {
      if (stateOf(task.id).state === 'done') continue
      note(task.id, { state: 'working' })
      await mutateAsync(task).then(
        () => note(task.id, { state: 'done' }),
        (error: unknown) => note(task.id, { state: 'failed', error }),
      )
    }
    await queries.invalidateQueries({ queryKey: ['agents'] })
  }
  const all = tasks.map(({ id }) => stateOf(id).state)
  return {
    stateOf,
    run: () => void run(),
    isWorking: all.includes('working'),
    hasFailed: all.includes('failed'),
    isDone: all.every((state) => state === 'done'),
  }
}

interface ListMembers {
  readonly tasks: readonly Task[]
  stateOf(id: string): Outcome
}

export function TaskList({ tasks, stateOf }: ListMembers) {
  if (tasks.length === 0) return null
  return (
    <ul aria-label="What is done" className="divide-y divide-rule rounded-control border border-rule">
      {tasks.map(({ id, label }) => {
        const { state, error } = stateOf(id)
        return (
          <li key={id} className="grid gap-2 bg-surface px-3 py-2">
            <span className="flex justify-between gap-3">
              <span className="min-w-0 truncate">{label}</span>
              <Status tone={STATES[state].tone}>{STATES[state].word}</Status>
            </span>
            {error !== undefined && <ProblemNote error={error} />}
          </li>
        )
      })}
    </ul>
  )
}
