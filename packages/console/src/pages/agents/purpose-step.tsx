import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { TextField } from '../../ui/field.tsx'
import { Choices } from './choice.tsx'
import { KINDS, type Kind, nameProblem } from './plan.ts'
import { agentsQuery } from './queries.ts'
import { StepForm, type StepMembers } from './step-form.tsx'

export function PurposeStep({ plan, change, onContinue }: StepMembers) {
  const { data: others = [] } = useQuery(agentsQuery(useStrongroom()))
  // What is typed is here first: the address follows.
  const [name, setName] = useState(plan.name)
  const [description, setDescription] = useState(plan.description)
  const problem = nameProblem(name.trim(), others)
  return (
    <StepForm
      title="Purpose"
      says="An agent is what a process acts as: it has keys of its own and opens only what it is given."
      disabled={name.trim() === '' || problem !== undefined}
      onContinue={onContinue}
    >
      <TextField
        label="Name"
        hint="What people will see beside everything it does. The server can read it."
        error={problem}
        value={name}
        onChange={({ target }) => {
          setName(target.value)
          change({ name: target.value.trim() })
        }}
        maxLength={63}
        spellCheck={false}
        required
      />
      <TextField
        label="Description"
        hint="What it is for. If you leave it empty, its kind is written down."
        value={description}
        onChange={({ target }) => {
          setDescription(target.value)
          change({ description: target.value })
        }}
        maxLength={2000}
      />
      <Choices<Kind>
        legend="Kind"
        value={plan.kind}
        onChange={(kind) => change({ kind, permissions: undefined })}
        choices={(Object.keys(KINDS) as Kind[]).map((value) => ({ value, ...KINDS[value] }))}
      />
    </StepForm>
  )
}
