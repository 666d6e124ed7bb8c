import { decodePem } from '@strongroom/protocol'
import { ApiError, keyWords } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { askKeys, type PreparedKeys } from '../../session/key-questions.ts'
import { openSession, useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { KitToKeep } from './kit-to-keep.tsx'
import { ownSecrets, thisServer } from './own-secrets.ts'
import { ProveForm } from './prove-form.tsx'

interface Ready {
  readonly prepared: PreparedKeys
  readonly deviceSecret: string
}

/** The server answered, and the answer was no. */
const wasRefused = (error: unknown): boolean => error instanceof ApiError && error.status < 500

/** The old key hands every vault key to the new one; the log refuses a batch that lacks one. All of it or nothing. */
function useHandOver() {
  const { strongroom, client, person } = useOpenSession()
  const queries = useQueryClient()
  const [progress, setProgress] = useState('')
  const [isUnknown, setUnknown] = useState(false)
  const handOver = useMutation({
    mutationFn: async ({ privateKey, sealed }: PreparedKeys) => {
      const { bundleVersion, privateBundle, recovery } = sealed
      const done = await strongroom.agents.rotateRuntimeKey(
        {
          keys: { material: decodePem(privateKey) },
          // It is sealed for the server already, and comes with the change.
          save: () => undefined,
          submit: async ({ event, replacements }) => {
            const body = {
              event,
              replacements: [...replacements],
              bundleVersion,
              privateBundle,
              ...(recovery && { recovery }),
            }
            return client.userKeys.rotate({ body }).catch((error: unknown) => {
              // A refusal after one that nobody heard the answer of says nothing of the first.
              if (!wasRefused(error)) setUnknown(true)
              throw error
            })
          },
        },
        { onProgress: (at, total) => setProgress(`${at} of ${total} vault keys`) },
      )
      await openSession({ ...person, privateKey })
      await queries.invalidateQueries({ queryKey: ['settings'] })
      return done
    },
  })
  return { handOver, progress, isUnknown }
}

const NotYet = () => (
  <p className="text-label text-ink-3">Nothing has changed yet. If you close this now, your old key and kit stay.</p>
)

const MayBeDone = () => (
  <p role="status">
    <strong className="text-warn">The new key may have taken over already.</strong> Keep this kit and the one from
    before. Load the page again and sign in: the newest of your keys under Settings, Security says whether it did. If so
    this kit counts, and otherwise the one from before.
  </p>
)

export function RotateOwnKeyForm({ onClose }: { onClose(): void }) {
  const { person } = useOpenSession()
  const { handOver, progress, isUnknown } = useHandOver()
  const prepare = useMutation({
    mutationFn: async (passphrase: string): Promise<Ready> => {
      const own = await ownSecrets(person.email, passphrase)
      const answer = await askKeys({ kind: 'prepare-rotation', person, server: thisServer(), own })
      return { prepared: answer.prepared as PreparedKeys, deviceSecret: own.deviceSecret }
    },
  })
  if (handOver.data)
    return (
      <Dialog title="You have a new key" open onClose={onClose}>
        <div className="grid gap-4 p-5">
          <p role="status">
            <strong>{keyWords(handOver.data.keyId)}</strong>, linked to the old one in the log;{' '}
            {handOver.data.rewrapped} vault {handOver.data.rewrapped === 1 ? 'key' : 'keys'} wrapped for it.
          </p>
          <p>Sign in again on your other devices. The recovery kit from before is worth nothing any more.</p>
          <div className="flex justify-end">
            <Button kind="primary" onClick={onClose}>
              Close
            </Button>
          </div>
        </div>
      </Dialog>
    )
  if (prepare.data) {
    const { prepared, deviceSecret } = prepare.data
    return (
      <Dialog title="Your new recovery kit" open onClose={onClose} closesBy="buttons">
        <KitToKeep
          email={person.email}
          codes={{ deviceSecret, recoveryCode: prepared.recoveryCode }}
          says="It takes the place of the kit you have when the new key takes over."
          action="Hand over to the new key"
          busy={handOver.isPending}
          onDone={() => handOver.mutate(prepared)}
        />
        <div className="grid gap-2 px-5 pb-5">
          {progress !== '' && <p role="status">{progress}</p>}
          {handOver.error && <ProblemNote error={handOver.error} />}
          {isUnknown ? <MayBeDone /> : <NotYet />}
        </div>
      </Dialog>
    )
  }
  return (
    <ProveForm
      title="Rotate my key"
      onClose={onClose}
      action="Make the new key"
      busy={prepare.isPending}
      problem={prepare.error}
      cli="strongroom key rotate"
      onProve={prepare.mutate}
      progress={<p role="status">Your computer is choosing large primes. Nothing is sent.</p>}
    >
      <p>
        Your new key is made here and linked to the old one in the log; every vault key you hold is wrapped for it. What
        the old key could open, it still opens: if somebody has it, ask an administrator to end it.
      </p>
    </ProveForm>
  )
}
