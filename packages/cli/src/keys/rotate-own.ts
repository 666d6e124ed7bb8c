import { rm } from 'node:fs/promises'
import type { PreparedRotation } from '@strongroom/sdk'
import { type Cli, confirm, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import type { PersonSecrets } from '../place/credentials.ts'
import { withProgress } from '../prompt/progress.ts'
import { kitOf } from '../sign-in/kept-person.ts'
import { existingPassphrase } from '../sign-in/passphrase.ts'
import { reserveKit, shownKit } from '../sign-in/recovery-kit.ts'

// Other keys for the person of this profile: every vault key the old ones hold is handed over in the same step, and the new ones
// reach the server sealed with it. So nothing is lost, whatever breaks: a sign-in brings the keys that count.

export interface RotateFlags {
  readonly 'passphrase-file': string | undefined
  readonly kit: string | undefined
}

async function ownProfile(cli: Cli) {
  const { profile, profileName } = await cli.credential()
  if (profile?.kind !== 'person' || profileName === undefined)
    throw new CliError('not_signed_in', 'this profile is an agent, whose keys are rotated by name', {
      fix: 'strongroom agent rotate-runtime-key NAME',
    })
  const kept = await (await cli.keyStore()).get(profileName)
  const secrets = JSON.parse(kept ?? '{}') as PersonSecrets
  return { profile, profileName, secrets }
}

export async function rotateOwnKey(cli: Cli, flags: RotateFlags): Promise<Result> {
  const { profile, profileName, secrets } = await ownProfile(cli)
  await confirm(cli, 'Your key gets a successor; your other machines have to sign in again. Go on?')
  const person = await cli.person()
  const passphrase = await existingPassphrase(cli, flags['passphrase-file'], `Passphrase of ${person.email}`)
  const server = { baseUrl: serverOf(cli) ?? profile.server, deviceInstallationId: profile.device_id }
  const { prepareRotation, generateRuntimeKey } = await import('@strongroom/sdk')
  const kit = await reserveKit(cli, profile.org, flags.kit)
  const { deviceSecret } = secrets
  let written = false
  try {
    const own = { passphrase, deviceSecret }
    const prepared = await withProgress(cli, 'making new keys', () => prepareRotation(person, server, own))
    const { orgId, email, trustAnchor } = person
    const codes = { deviceSecret, recoveryCode: prepared.recoveryCode }
    const { kid } = (await generateRuntimeKey({ principal: `user:${person.userId}`, material: prepared.keys })).provider
    const submit: typeof prepared.submit = async (rotation) => {
      // Before the server hears of it: afterwards the code could be lost.
      if (!written) await kit.write(kitOf({ server: server.baseUrl, orgId, email, kid, trustAnchor, codes }))
      written = true
      await prepared.submit(rotation)
    }
    const done = await handOver(cli, profileName, secrets, { ...prepared, submit })
    return rotated(cli, { ...done, profile: profileName, recoveryKit: kit.path, old: person.identity.kid })
  } catch (error) {
    if (!written) await kit.release()
    else if (isRefusal(error)) await rm(kit.path, { force: true })
    throw error
  }
}

/** The server said no, so nothing has changed; anything else may have. */
const isRefusal = (error: unknown): boolean => typeof (error as { status?: unknown }).status === 'number'

async function handOver(
  cli: Cli,
  profileName: string,
  secrets: PersonSecrets,
  { keys: material, submit }: PreparedRotation,
): Promise<{ readonly keyId: string; readonly rewrapped: number }> {
  let privateKey = ''
  const strongroom = await cli.strongroom()
  const done = await withProgress(cli, 'handing over vault keys', (progress) =>
    strongroom.agents.rotateRuntimeKey(
      {
        keys: { material },
        submit,
        save: ({ privateKeyPem }) => {
          privateKey = privateKeyPem.reveal()
        },
      },
      { signal: cli.signal, onProgress: (at, total) => progress.update(`handing over ${at} of ${total} vaults`) },
    ),
  )
  await (await cli.keyStore()).put(profileName, JSON.stringify({ ...secrets, privateKey } satisfies PersonSecrets))
  return done
}

interface Rotated {
  readonly keyId: string
  readonly old: string
  readonly rewrapped: number
  readonly profile: string
  readonly recoveryKit: string
}

async function rotated(cli: Cli, done: Rotated): Promise<Result> {
  const { keyWords } = await import('@strongroom/sdk')
  const tick = cli.style.good('✓')
  const words = keyWords(done.keyId)
  return {
    data: { ...done, words },
    text: [
      `${tick} Your key        ${done.keyId}   ${words}`,
      `${tick} Vault keys      ${done.rewrapped} wrapped for it, signed by the old one`,
      `${tick} Recovery kit    ${shownKit(cli, done.recoveryKit)}   the one before is worthless now; keep this one offline`,
    ].join('\n'),
    next: 'strongroom login   on your other machines',
  }
}
