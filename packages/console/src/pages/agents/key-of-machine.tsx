import { shellLine } from '@strongroom/contract'
import { Secret } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine, useCopy } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { TextArea } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { formatEnrolment } from './enrolment.ts'
import { KeyPrint } from './key-words.tsx'
import type { KeysMembers } from './keys-step.tsx'
import type { EnrolledHere } from './made-agent.ts'
import { descriptionOf, newLimitsOf, type Plan } from './plan.ts'
import { fingerprintOf, fingerprintOfPasted } from './public-key.ts'
import { pendingKeysQuery } from './queries.ts'

// Keys that were never in this browser: the agent is enrolled without any, asks for a signature where it runs, and gets it here.

function useEnrol(plan: Plan, onEnrolled: (enrolled: EnrolledHere) => void) {
  const { strongroom, person } = useOpenSession()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (): Promise<EnrolledHere> => {
      const { name, permissions } = plan
      const description = descriptionOf(plan)
      const enrolled = await strongroom.agents.enrol({ name, description, permissions, ...newLimitsOf(plan) })
      const { agent, apiKey, trustAnchor, endorser } = enrolled
      const { agentId } = agent
      const given = { server: location.origin, apiKey: apiKey.reveal(), trustAnchor }
      const text =
        plan.keys === 'paste'
          ? `STRONGROOM_SERVER=${given.server}\nSTRONGROOM_API_KEY=${given.apiKey}\nSTRONGROOM_TRUST_ANCHOR=${trustAnchor}`
          : formatEnrolment({ ...given, org: person.orgId, agentId, name, endorser })
      const content = new Secret(text, { ref: `enrolment of agent:${agentId}`, name: 'enrolment' })
      return {
        agentId,
        name,
        file: { name: `${name}.${plan.keys === 'paste' ? 'env' : 'enrolment'}`, content },
        endorser,
      }
    },
    onSuccess: async (enrolled) => {
      onEnrolled(enrolled)
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
}

export function KeyOfMachine(members: KeysMembers) {
  const { plan, agentId, enrolled, onEnrolled, onBack } = members
  const [pem, setPem] = useState('')
  const enrol = useEnrol(plan, onEnrolled)
  const isPasted = plan.keys === 'paste'
  const pasted = pem.trim() === '' ? undefined : fingerprintOfPasted(pem)
  const expected = pasted && 'fingerprint' in pasted ? pasted.fingerprint : undefined
  return (
    <div className="grid gap-4">
      {isPasted && (
        <>
          <TextArea
            label="Public key"
            hint="PEM, as openssl pkey -pubout writes it: the RSA key, and its Ed25519 key below it where it has one."
            error={pasted && 'problem' in pasted ? pasted.problem : undefined}
            value={pem}
            onChange={({ target }) => setPem(target.value)}
            spellCheck={false}
            className="font-mono text-code"
          />
          {expected !== undefined && <KeyPrint keyId={`agent:pasted:${expected}`} />}
        </>
      )}
      {agentId === undefined ? (
        <>
          {enrol.error && <ProblemNote error={enrol.error} />}
          <div className="flex gap-2">
            <Button onClick={onBack}>Back</Button>
            <Button
              kind="primary"
              busy={enrol.isPending}
              disabled={isPasted && expected === undefined}
              onClick={() => enrol.mutate()}
            >
              Enrol {plan.name}
            </Button>
          </div>
        </>
      ) : (
        <>
          {enrolled && <Enrolment enrolled={enrolled} isPasted={isPasted} />}
          <PendingKey {...members} agentId={agentId} isPasted={isPasted} expected={expected} />
        </>
      )}
    </div>
  )
}

function Enrolment({ enrolled, isPasted }: { readonly enrolled: EnrolledHere; readonly isPasted: boolean }) {
  const [copied, copy] = useCopy()
  const { name, content } = enrolled.file
  return (
    <div className="grid gap-3">
      <p>
        Bring the enrolment to the machine. It is shown once; the API key in it opens nothing until you have signed for
        a key.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => download(name, `${content.reveal()}\n`)}>
          Download enrolment
        </Button>
        <Button onClick={() => copy(content.reveal())}>{copied ? 'Copied' : 'Copy enrolment'}</Button>
      </div>
      {isPasted ? (
        <CopyLine
          label="Where its key is, with the SDK"
          text={`await strongroom.agents.requestEndorsement('${enrolled.endorser}')`}
        />
      ) : (
        <CopyLine label="On its machine" text={shellLine`strongroom agent request ${name}`} />
      )}
    </div>
  )
}

interface PendingMembers extends KeysMembers {
  readonly agentId: string
  readonly isPasted: boolean
  readonly expected: string | undefined
}

function PendingKey({ agentId, isPasted, expected, plan, onContinue }: PendingMembers) {
  const strongroom = useStrongroom()
  const pending = useQuery({ ...pendingKeysQuery(strongroom), refetchInterval: 3000 })
  const found = pending.data?.find((key) => key.agentId === agentId)
  const sign = useMutation({
    mutationFn: (keyId: string) => strongroom.agents.endorse(keyId),
    onSuccess: onContinue,
  })
  if (!found)
    return (
      <p role="status" className="flex items-center gap-2">
        <span aria-hidden="true" className="size-2 rounded-round border border-edge" />
        Waiting for the key of {plan.name} …
      </p>
    )
  const isExpected = fingerprintOf(found.keyId) === expected
  return (
    <div className="grid gap-3">
      <p role="status">A key asks for your signature.</p>
      <KeyPrint keyId={found.keyId} />
      {isPasted && expected === undefined && <p>Paste the public key again, so that it can be compared.</p>}
      {isPasted && expected !== undefined && !isExpected && (
        <p role="alert" className="border-l-2 border-danger pl-3 text-danger">
          This is another key than the one you pasted. Do not sign for it; find out who sent it.
        </p>
      )}
      {isPasted && isExpected && <p>It is the key you pasted, and whoever sent it holds its private half.</p>}
      {!isPasted && (
        <p>
          Compare the whole fingerprint with what the machine shows. Whoever signs for another key gives the vaults to
          somebody else.
        </p>
      )}
      {sign.error && <ProblemNote error={sign.error} />}
      <div>
        <Button
          kind="primary"
          busy={sign.isPending}
          disabled={isPasted && !isExpected}
          onClick={() => sign.mutate(found.keyId)}
        >
          {isPasted ? 'Sign for it' : 'They are the same: sign for it'}
        </Button>
      </div>
    </div>
  )
}
