import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag } from '../model/command.ts'
import { table } from '../output/table.ts'

const KINDS = ['vault', 'item', 'field', 'license'] as const

export const search = command({
  summary: 'find vaults, items, fields and licences by name, also misspelt',
  about: 'Values are never searched: the server does not have them.',
  args: { text: arg.rest('what to look for') },
  flags: { kind: flag.many('only these', KINDS.join('|')), limit: flag.count('at most so many') },
  examples: [{ run: 'strongroom search stripe', does: 'everything you can see that sounds like it' }],
  next: 'strongroom read VAULT/ITEM/FIELD',
  output: async () => (await import('../schemas/monitoring.ts')).searchShape,
  run: async (cli, { args, flags }) => {
    const text = args.text.join(' ')
    if (text === '')
      throw new CliError('usage', 'TEXT is missing: what to look for', { fix: 'strongroom search stripe' })
    const kinds = flags.kind.map((asked) => {
      const kind = KINDS.find((known) => known === asked)
      if (!kind) throw new CliError('usage', `--kind ${asked} is unknown`, { fix: `use one of ${KINDS.join(', ')}` })
      return kind
    })
    const params = { ...(kinds.length > 0 && { kinds }), ...(flags.limit !== undefined && { limit: flags.limit }) }
    const strongroom = await cli.strongroom()
    const hits = await strongroom.search.query(text, params, { signal: cli.signal })
    if (hits.length === 0) cli.say('nothing found')
    return {
      data: hits,
      meta: { total: hits.length },
      ...(hits.length > 0 && {
        text: table(
          hits,
          [
            { title: 'KIND', of: ({ kind }) => kind },
            { title: 'WHERE', of: ({ path }) => path },
            { title: 'ID', of: ({ id }) => id },
          ],
          cli.style,
        ),
      }),
    }
  },
})
