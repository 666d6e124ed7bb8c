import { Choices } from './choice.tsx'
import { KeyHere } from './key-here.tsx'
import { KeyOfMachine } from './key-of-machine.tsx'
import { LostKey } from './lost-key.tsx'
import type { EnrolledHere, MadeAgent } from './made-agent.ts'
import type { KeyWay } from './plan.ts'
import { StepHeading, type StepMembers } from './step-form.tsx'

export interface KeysMembers extends StepMembers {
  /** Of the agent, once there is one. */
  readonly agentId: string | undefined
  readonly made: MadeAgent | undefined
  readonly enrolled: EnrolledHere | undefined
  onMade(made: MadeAgent): void
  onEnrolled(enrolled: EnrolledHere): void
  readonly isSaved: boolean
  onSaved(isSaved: boolean): void
}

const WAYS = [
  {
    value: 'here',
    label: 'Make it in this browser',
    says: 'You download its bundle and bring it to where the agent runs.',
  },
  {
    value: 'paste',
    label: 'Paste a public key',
    says: 'Its private key is somewhere already, such as in a hardware module.',
  },
  {
    value: 'machine',
    label: 'Let the machine make it',
    says: 'The private key never leaves the machine; you compare words and sign for it.',
  },
] as const satisfies readonly { readonly value: KeyWay; readonly label: string; readonly says: string }[]

export function KeysStep(members: KeysMembers) {
  const { plan, change, agentId, made } = members
  const isLost = agentId !== undefined && plan.keys === 'here' && made === undefined
  return (
    <div className="grid content-start gap-5">
      <StepHeading
        title="Keys"
        says="Whoever has its private key is the agent. Until the next step it opens nothing at all."
      />
      <Choices<KeyWay>
        legend="Where its key is made"
        value={plan.keys}
        choices={WAYS}
        disabled={agentId !== undefined}
        onChange={(keys) => change({ keys })}
      />
      {isLost && <LostKey agentId={agentId} onGone={() => change({ agent: undefined, step: 'keys' })} />}
      {!isLost && plan.keys === 'here' && <KeyHere {...members} />}
      {plan.keys !== 'here' && <KeyOfMachine key={plan.keys} {...members} />}
    </div>
  )
}
