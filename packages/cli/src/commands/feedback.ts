import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag } from '../model/command.ts'
import { readAll } from '../place/standard-input.ts'
import { pipedText } from '../place/utf8.ts'

const CATEGORIES = ['missing_capability', 'bug', 'docs', 'other'] as const

export const feedback = command({
  summary: 'say what is missing',
  about: 'Goes to the operator of your server. It is refused if it looks as if it held a credential.',
  args: { summary: arg.one('what is missing, in one line') },
  flags: {
    category: flag.choice('what it is', CATEGORIES),
    route: flag.text('the route or command it is about', 'TEXT'),
    request: flag.text('the request id of an answer', 'ID'),
  },
  examples: [{ run: 'echo "…" | strongroom feedback "no way to tag items"', does: 'details come from standard input' }],
  next: 'strongroom doctor',
  output: async () => (await import('../schemas/feedback.ts')).feedbackShape,
  run: async (cli, { args, flags }) => {
    const piped = cli.io.stdin.isTTY ? '' : pipedText(await readAll(cli.io.stdin, 20_000)).trim()
    const wanted = piped !== '' ? piped : args.summary
    if (args.summary.includes('\n')) throw new CliError('usage', 'the summary is one line')
    const strongroom = await cli.strongroom()
    const { id } = await strongroom.feedback.send(
      {
        summary: args.summary,
        wanted,
        ...(flags.category && { category: flags.category }),
        ...(flags.route !== undefined && { route: flags.route }),
        ...(flags.request !== undefined && { requestId: flags.request }),
      },
      { signal: cli.signal },
    )
    return { data: { feedbackId: id }, text: `${cli.style.good('✓')} thank you: ${id}` }
  },
})
