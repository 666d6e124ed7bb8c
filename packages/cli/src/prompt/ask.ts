import { CliError } from '../errors/cli-error.ts'
import type { Speaker } from '../output/speaker.ts'

// Questions to a person, on standard error: standard output is for data. Where there is nobody, the refusal names the flag.

export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

export interface Ask {
  /** `flag` is what answers the question where nobody can be asked. */
  text(
    question: string,
    flag: string,
    options?: { readonly initial?: string; check?(text: string): string | undefined },
  ): Promise<string>
  secret(question: string, flag: string, options?: { check?(text: string): string | undefined }): Promise<string>
  one<T extends string>(question: string, flag: string, choices: readonly Choice<T>[]): Promise<T>
  many<T extends string>(question: string, flag: string, choices: readonly Choice<T>[]): Promise<readonly T[]>
  yes(question: string, initial?: boolean): Promise<boolean>
}

const nobody = (question: string, flag: string): CliError =>
  new CliError('input_required', `${question} is not given, and nobody can be asked`, {
    fix: flag.startsWith('STRONGROOM_') ? `set ${flag}` : `give ${flag}`,
  })

const severalLines = (flag: string): CliError =>
  new CliError(
    'usage',
    'what was pasted has several lines or a tab, and a question takes one line; nothing was taken',
    {
      fix: flag.startsWith('STRONGROOM_') ? `set ${flag}` : `give ${flag}, or pipe it in`,
    },
  )

const ended = (): CliError => new CliError('cancelled', 'nothing was changed')

export function makeAsk({ isInteractive }: Speaker): Ask {
  const prompts = async (question: string, flag: string) => {
    if (!isInteractive) throw nobody(question, flag)
    return { ...(await import('@clack/prompts')), output: process.stderr }
  }
  const check =
    (rule: ((text: string) => string | undefined) | undefined) =>
    (text: string | undefined): string | undefined =>
      text === undefined || text === '' ? 'this cannot be empty' : rule?.(text)
  return {
    text: async (message, flag, { initial, check: rule } = {}) => {
      const { text, isCancel, output } = await prompts(message, flag)
      const answer = await text({
        message,
        output,
        validate: check(rule),
        ...(initial !== undefined && { initialValue: initial }),
      })
      if (isCancel(answer)) throw ended()
      return answer.trim()
    },
    secret: async (message, flag, { check: rule } = {}) => {
      const { password, isCancel, output } = await prompts(message, flag)
      const paste = (await import('./paste.ts')).watchPaste(process.stdin)
      const answer = await password({ message, output, validate: check(rule), mask: '•', signal: paste.signal })
      if (await paste.over()) throw severalLines(flag)
      if (isCancel(answer)) throw ended()
      return answer
    },
    one: async (message, flag, choices) => {
      const { select, isCancel, output } = await prompts(message, flag)
      const answer = await select<string>({ message, output, options: choices.map((choice) => ({ ...choice })) })
      if (isCancel(answer)) throw ended()
      return answer as (typeof choices)[number]['value']
    },
    many: async (message, flag, choices) => {
      const { multiselect, isCancel, output } = await prompts(message, flag)
      const answer = await multiselect<string>({
        message,
        output,
        required: false,
        options: choices.map((choice) => ({ ...choice })),
      })
      if (isCancel(answer)) throw ended()
      return answer as (typeof choices)[number]['value'][]
    },
    yes: async (message, initial = true) => {
      const { confirm, isCancel, output } = await prompts(message, '--yes')
      const answer = await confirm({ message, output, initialValue: initial })
      if (isCancel(answer)) throw ended()
      return answer
    },
  }
}
