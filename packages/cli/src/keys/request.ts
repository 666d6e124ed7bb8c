import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { withProgress } from '../prompt/progress.ts'
import type { Enrolment } from './enrolment.ts'
import { fingerprintOf, inFours } from './own-key.ts'

// The agent's half: keys are made here, kept here, and a person is asked to sign for them.

export interface RequestFlags {
  readonly out: string | undefined
  readonly 'passphrase-file': string | undefined
}

async function newBundle(cli: Cli, enrolment: Enrolment): Promise<string> {
  const { formatBundle, generateRuntimeKey } = await import('@strongroom/sdk')
  const { name: _, endorser: __, ...credential } = enrolment
  const key = await withProgress(cli, 'making its keys on this machine', () =>
    generateRuntimeKey({ principal: `agent:${enrolment.agentId}` }),
  )
  return formatBundle({ ...credential, privateKey: key.exportPem().reveal() })
}

/** Where the bundle goes, made ready before there is one. */
async function keeper(cli: Cli, { name, agentId }: Enrolment, flags: RequestFlags) {
  const { ensureShowable, shownOnce } = await import('../admin/shown-once.ts')
  if (flags.out !== undefined) {
    const { out } = flags
    ensureShowable(cli, out)
    return async (secret: string) => shownOnce(cli, { name: 'bundle', secret, out })
  }
  const { keepBundle, readyFor } = await import('../sign-in/save-bundle.ts')
  const { slugOf } = await import('../sign-in/recovery-kit.ts')
  const profile = cli.globals.profile ?? slugOf(name)
  await readyFor(cli, profile, agentId, flags['passphrase-file'])
  return async (secret: string) => {
    await keepBundle(cli, profile, secret, flags)
    return { profile }
  }
}

export async function requestEndorsement(cli: Cli, enrolment: Enrolment, flags: RequestFlags): Promise<Result> {
  const keep = await keeper(cli, enrolment, flags)
  const bundle = await newBundle(cli, enrolment)
  // Kept before anybody hears of it: a key that was signed for and lost would be of no use.
  const kept = await keep(bundle)
  const { makeStrongroom } = await import('../place/client.ts')
  const { keyWords } = await import('@strongroom/sdk')
  const asAgent: Cli = { ...cli, credential: async () => ({ source: 'environment', options: { bundle } }) }
  const strongroom = await makeStrongroom(asAgent)
  const { keyId } = await strongroom.agents.requestEndorsement(enrolment.endorser, { signal: cli.signal })
  const fingerprint = fingerprintOf(keyId)
  const words = keyWords(keyId)
  const where = 'profile' in kept ? `profile "${kept.profile}"` : `${Object.values(kept)[0]}`
  return {
    data: { agentId: enrolment.agentId, keyId, fingerprint, words, ...kept },
    text: [
      `${cli.style.good('✓')} Keys made here  ${safeText(enrolment.name)}, in ${where}`,
      `  Words           ${words}`,
      `  Fingerprint     ${inFours(fingerprint)}`,
      '',
      'Tell the fingerprint to whoever enrolled it. They run:',
      shellLine`   strongroom agent endorse ${fingerprint} --vault VAULT`,
    ].join('\n'),
  }
}
