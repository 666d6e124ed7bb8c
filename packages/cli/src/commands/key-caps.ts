import { shellLine } from '@strongroom/contract'
import type { CapsStatement, InviteOptions, KeyCaps } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { fingerprintOf, inFours, isKeyId, type Owner, ownerOf } from '../keys/own-key.ts'
import { goOn, nextStep, type Several, STEPS, type Steps } from '../keys/several-sign.ts'
import { arg, command, flag, type Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { namesOf } from '../place/principals.ts'

type Caps = NonNullable<InviteOptions['caps']>

const capsOf = async ({ strongroom }: Cli) => (await strongroom()).transparency.caps

const ownerIn = (keyId: string): string => keyId.slice(0, keyId.lastIndexOf(':'))

/** With the whole fingerprint: whoever signs for a key compares it with its owner. */
const changes =
  (nameOf: (id: string) => string) =>
  ({ keyId, from, to, isConfirmed }: CapsStatement): string => {
    const key = `the key ${inFours(fingerprintOf(keyId))} of ${safeText(nameOf(ownerIn(keyId)))}`
    const what = from.join() === to.join() ? to.join(' ') : `${from.join(' ')} → ${to.join(' ')}`
    return `${key}: ${what}${isConfirmed ? '' : ', confirmed'}`
  }

const warning = ({ from, to, isConfirmed }: CapsStatement): string => {
  const isMore = to.some((cap) => !from.includes(cap))
  return isMore || !isConfirmed ? ' Compare the fingerprint with what its owner tells you.' : ''
}

async function several(cli: Cli): Promise<Several<CapsStatement>> {
  const caps = await capsOf(cli)
  return {
    command: ['strongroom', 'key', 'caps'],
    about: 'what a key may sign',
    madeWith: 'strongroom key caps WHO --cap CAP --out FILE',
    usualFile: 'caps-statement.json',
    changes: changes(await namesOf(cli)),
    warning,
    examine: (one) => caps.examine(one, { signal: cli.signal }),
    countersign: (one) => caps.countersign(one, { signal: cli.signal }),
    send: (one) => caps.send(one, { signal: cli.signal }),
  }
}

async function show(cli: Cli, { id, name }: Owner): Promise<Result> {
  const held = await (await capsOf(cli)).show(id, { signal: cli.signal })
  if (held.length === 0) cli.say(`${safeText(name)} has no key that counts`)
  for (const { keyId } of held.filter(({ isConfirmed }) => !isConfirmed))
    cli.say(
      shellLine`a compromised key vouched for this one, or said what it may sign: nothing it signs counts until it is confirmed: strongroom key caps ${keyId} --confirm`,
    )
  const text = table(
    held,
    [
      { title: 'KEY', of: ({ keyId }) => keyId },
      { title: 'MAY SIGN AS', of: ({ caps }) => caps.join(' ') },
      { title: 'ENTRY', of: ({ entry }) => String(entry) },
      { title: 'COUNTS', of: ({ isConfirmed }) => (isConfirmed ? 'yes' : 'not confirmed') },
    ],
    cli.style,
  )
  return { data: { state: 'shown', keys: held }, ...(held.length > 0 && { text }) }
}

/** The key that is named, or the only one there is. */
async function keyFor(cli: Cli, { id, name }: Owner, who: string | undefined): Promise<KeyCaps> {
  const held = await (await capsOf(cli)).show(id, { signal: cli.signal })
  const found = who !== undefined && isKeyId(who) ? held.filter(({ keyId }) => keyId === who) : held
  const [only, ...more] = found
  if (only && more.length === 0) return only
  const why = only ? `has ${found.length} keys that count` : 'has no such key that counts'
  throw new CliError('key_not_found', `${safeText(name)} ${why}`, {
    fix: only ? `name one of them: ${found.map(({ keyId }) => keyId).join(', ')}` : 'strongroom key list WHO',
  })
}

interface Flags extends Steps {
  readonly cap: readonly string[]
  readonly none: boolean
  readonly confirm: boolean
}

const CAPS = ['agent-manager', 'dir-admin', 'recovery']

async function make(cli: Cli, who: string | undefined, flags: Flags): Promise<Result> {
  const unknown = flags.cap.find((cap) => !CAPS.includes(cap))
  if (unknown !== undefined)
    throw new CliError('usage', `${safeText(unknown)} is nothing a key may be given`, {
      fix: `there are: ${CAPS.join(', ')}`,
    })
  const owner = await ownerOf(cli, who)
  const { keyId, caps } = await keyFor(cli, owner, who)
  const to = flags.confirm ? caps : flags.cap
  const signed = await (await capsOf(cli)).propose(keyId, to as Caps, { signal: cli.signal })
  return signed ? goOn(cli, await several(cli), signed, flags) : show(cli, owner)
}

export const caps = command({
  summary: 'what a key may sign in the directory, and changing it',
  about:
    'A dir-admin signs for keys, the policy, and this; an agent-manager for keys of agents. Those given replace all. A key that a compromised one had vouched for counts again once it is confirmed. Where the policy asks for several signatures it goes to a file for others to sign.',
  args: {
    who: arg.maybe('name, email, id or key id; you if not given', { completes: 'agent' }),
  },
  flags: {
    cap: flag.many(`what it may sign: ${CAPS.join(', ')}`, 'CAP'),
    none: flag.on('take all of it away'),
    confirm: flag.on('leave it as it is, and vouch for the key anew'),
    ...STEPS,
  },
  examples: [
    { run: 'strongroom key caps bob@northwind.test --cap dir-admin', does: 'asks first, with the fingerprint' },
    { run: 'strongroom key caps checkout-bot --confirm', does: 'after whoever vouched for it was compromised' },
  ],
  next: 'strongroom key fingerprint WHO   to compare with its owner',
  output: async () => (await import('../schemas/caps.ts')).capsShape,
  run: async (cli, { args, flags }) => {
    ensureFolderFor(cli, flags.out)
    const news = [flags.cap.length > 0, flags.none, flags.confirm]
    const steps = [...news, flags.countersign !== undefined, flags.send !== undefined].filter(Boolean).length
    if (steps > 1)
      throw new CliError('usage', 'one step at a time: --cap, --none, --confirm, --countersign or --send', {
        fix: 'give one of them',
      })
    if (news.some(Boolean)) return make(cli, args.who, flags)
    const stepped = steps > 0 ? await nextStep(cli, await several(cli), flags) : undefined
    return stepped ?? show(cli, await ownerOf(cli, args.who))
  },
})
