import { arg, command, flag, type Group } from '../model/command.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { check } from './trust-check.ts'

const shapes = () => import('../schemas/monitoring.ts')

const list = command({
  summary: 'the keys this machine has verified, and how',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom trust list', does: 'pinned signers' }],
  next: 'strongroom trust alarms',
  output: async () => (await shapes()).signersShape,
  run: async (cli) => {
    const strongroom = await cli.strongroom()
    const signers = await strongroom.transparency.trust.list()
    if (cli.isJson) return { data: signers }
    const { namesOf, principalOf } = await import('../place/principals.ts')
    const nameOf = await namesOf(cli)
    return {
      data: signers,
      text: table(
        signers,
        [
          { title: 'WHO', of: ({ keyId }) => nameOf(principalOf(keyId)) },
          { title: 'KEY', of: ({ keyId }) => keyId },
          { title: 'STATUS', of: ({ status }) => status },
          { title: 'CAME BY', of: ({ via }) => via },
          { title: 'KNOWN', of: ({ verified }) => verified },
        ],
        cli.style,
      ),
    }
  },
})

const alarms = command({
  summary: 'what this machine has refused',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom trust alarms', does: 'codes and times' }],
  next: 'strongroom trust check FILE',
  output: async () => (await import('../schemas/trust.ts')).alarmsShape,
  run: async (cli) => {
    const strongroom = await cli.strongroom()
    const found = await strongroom.transparency.trust.alarms()
    if (found.length === 0) cli.say('nothing was ever refused')
    return {
      data: found,
      ...(found.length > 0 && {
        text: table(
          found,
          [
            { title: 'TIME', of: ({ at }) => shortTime(new Date(at)) },
            { title: 'CODE', of: ({ code }) => code },
          ],
          cli.style,
        ),
      }),
    }
  },
})

const exportAnchor = command({
  summary: 'a trust anchor with today as the least that whoever gets it accepts',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom trust export > anchor.txt', does: 'to give to another machine' }],
  next: 'strongroom verify   on the machine that has it',
  output: async () => (await shapes()).anchorShape,
  run: async (cli) => {
    const trustAnchor = await (await cli.strongroom()).transparency.trust.export()
    return { data: { trustAnchor }, text: trustAnchor }
  },
})

const pin = command({
  summary: 'note that a key was compared with its owner',
  about:
    'Compare the key id with its owner over another channel first. This machine remembers it, and takes over a new key of somebody it knew by another one, which it refuses otherwise.',
  args: { key: arg.one('the whole key id, such as user:…:…') },
  flags: { vault: flag.text('a vault they sign in; all of yours if not given', 'NAME', { completes: 'vault' }) },
  examples: [{ run: 'strongroom trust pin user:u_1:3kF… --vault prod', does: 'after you have asked its owner' }],
  next: 'strongroom trust list',
  output: async () => (await shapes()).signersShape,
  run: async (cli, { args, flags }) => {
    const { ensureKeyId, pinKey } = await import('../keys/pin.ts')
    ensureKeyId(args.key)
    const pinned = await pinKey(cli, args.key, flags.vault)
    return { data: [pinned], text: `${cli.style.good('✓')} ${args.key} is confirmed, and this machine remembers it` }
  },
})

export const trust: Group = {
  summary: 'what this machine has pinned',
  verbs: { list, alarms, check, pin, export: exportAnchor },
}
