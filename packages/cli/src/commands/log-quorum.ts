import { shellLine } from '@strongroom/contract'
import type { QuorumStatement, Quorums } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { goOn, nextStep, type Several, STEPS, type Steps } from '../keys/several-sign.ts'
import { command, flag, type Result } from '../model/command.ts'
import { facts } from '../output/table.ts'
import { ensureFolderFor } from '../place/given-file.ts'

const quorumsOf = async ({ strongroom }: Cli) => (await strongroom()).transparency.quorums

const changed = ({ from, to }: Pick<QuorumStatement, 'from' | 'to'>): string =>
  (['directory', 'recovery'] as const)
    .filter((name) => from[name] !== to[name])
    .map((name) => `${name} ${from[name]} → ${to[name]}`)
    .join(', ')

const HOUR_MS = 3_600_000

/** Whoever signs a whole policy anew sees all of it: whoever signed it last had a key that was not theirs alone. */
const whole = ({ dirQuorum, recoverQuorum, provisioners, ...rest }: NonNullable<QuorumStatement['anew']>): string =>
  [
    `directory ${dirQuorum}`,
    `recovery ${recoverQuorum}`,
    `provisioners ${provisioners.join(' ') || 'none'}`,
    `console ${rest.console ?? 'none'}`,
    `RSA keys of ${rest.minRsaBits} bits`,
    `${rest.kdf}`,
    `${rest.rotationGraceMs / HOUR_MS} h to rotate`,
  ].join(', ')

const changes = (signed: Pick<QuorumStatement, 'from' | 'to' | 'anew'>): string =>
  signed.anew ? `the policy that a compromised key had signed, signed anew: ${whole(signed.anew)}` : changed(signed)

/** Whoever needs everybody's signature cannot do without anybody's key. */
const warning = ({ to, administrators }: QuorumStatement): string =>
  Math.max(to.directory, to.recovery) === administrators && administrators > 1
    ? ` That takes all ${administrators} administrators: if one key is lost, it cannot be changed any more.`
    : ''

const several = (cli: Cli): Several<QuorumStatement> => ({
  command: ['strongroom', 'log', 'quorum'],
  about: 'quorums',
  madeWith: 'strongroom log quorum --directory N --out FILE',
  usualFile: 'quorum-statement.json',
  changes,
  warning,
  examine: async (one) => (await quorumsOf(cli)).examine(one, { signal: cli.signal }),
  countersign: async (one) => (await quorumsOf(cli)).countersign(one, { signal: cli.signal }),
  send: async (one) => (await quorumsOf(cli)).send(one, { signal: cli.signal }),
})

async function make(cli: Cli, to: Partial<Quorums>, flags: Steps): Promise<Result> {
  const signed = await (await quorumsOf(cli)).propose(to, { signal: cli.signal })
  return signed ? goOn(cli, several(cli), signed, flags) : show(cli)
}

async function show(cli: Cli): Promise<Result> {
  const data = await (await quorumsOf(cli)).show({ signal: cli.signal })
  const { directory, recovery, entry, policyVersion, isConfirmed } = data
  if (!isConfirmed)
    cli.say(
      `a compromised key signed this policy: nothing goes by it until it is signed anew: ${shellLine`strongroom log quorum --directory ${directory}`}`,
    )
  const rows = [
    ['directory', `${directory} of the directory administrators sign a policy, or what a key may do`],
    ['recovery', `${recovery} of them sign the recovery of a key, or of a restored log`],
    ['policy', `version ${policyVersion}, entry ${entry} of the log`],
  ] as const
  return { data: { state: 'set', ...data }, text: facts(rows, cli.style) }
}

export const quorum = command({
  summary: 'how many directory administrators have to sign, and changing it',
  about:
    'Without flags it shows what the policy in the log says. With --directory or --recovery it makes the next policy and signs it; where one signature is enough it is sent, otherwise it goes to a file for other administrators to sign. More signatures than there are administrators are refused. Once --directory is 2 or more, naming a console or a provisioner takes as many signatures, too: lower it for that, together. Another administrator is made with `strongroom key caps`.',
  args: {},
  flags: {
    directory: flag.count('how many sign a policy, or what a key may do'),
    recovery: flag.count('how many sign a recovery'),
    ...STEPS,
  },
  examples: [
    { run: 'strongroom log quorum', does: 'what is in force' },
    { run: 'strongroom log quorum --directory 2 --recovery 2', does: 'with three administrators or more' },
    { run: 'strongroom log quorum --countersign quorum-statement.json', does: 'the second administrator' },
  ],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/quorum.ts')).quorumShape,
  run: async (cli, { flags }) => {
    ensureFolderFor(cli, flags.out)
    const { directory, recovery } = flags
    const isNew = directory !== undefined || recovery !== undefined
    if ([isNew, flags.countersign !== undefined, flags.send !== undefined].filter(Boolean).length > 1)
      throw new CliError('usage', 'one step at a time: new quorums, --countersign or --send', {
        fix: 'give one of them',
      })
    if (isNew)
      return make(
        cli,
        {
          ...(directory !== undefined && { directory }),
          ...(recovery !== undefined && { recovery }),
        },
        flags,
      )
    return (await nextStep(cli, several(cli), flags)) ?? show(cli)
  },
})
