import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { secretFromFile } from './secret-input.ts'

// The passphrase of a person: it opens their keys together with the device secret, and nobody can reset it.

const LEAST = 12
const STRONG = 20

export interface Strength {
  readonly word: 'too weak' | 'fair' | 'strong'
  /** What to change, where it is too weak. */
  readonly problem?: string
}

const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** `abcabcabc` is `abc`: what repeats adds nothing that has to be guessed. */
function withoutRepeats(text: string): string {
  const [, unit] = /^(.+?)\1+$/su.exec(text) ?? []
  return unit ?? text
}

/** Every next character one further, or the same: `abcdefghijkl`, `111111111111`. */
function isSequence(text: string): boolean {
  const steps = [...text].slice(1).map((character, i) => (character.codePointAt(0) ?? 0) - (text.codePointAt(i) ?? 0))
  return steps.length > 0 && steps.every((step) => step === steps[0] && Math.abs(step) <= 1)
}

const COMMON = ['password', 'passphrase', 'qwertyuiop', 'letmein', 'strongroom', '1234567890']

/** Calm and short: what is wrong with it, if anything. `own` are words others know about the person. */
export function judgePassphrase(passphrase: string, own: readonly string[] = []): Strength {
  const bare = letters(passphrase)
  const known = [...COMMON, ...own.map(letters).filter((word) => word.length > 3)]
  const left = known.reduce((text, word) => text.replaceAll(word, ''), bare)
  const problem =
    [...passphrase].length < LEAST
      ? `take at least ${LEAST} characters; four random words are good`
      : new Set(passphrase).size < 5 || [...withoutRepeats(passphrase)].length < 8 || isSequence(passphrase)
        ? 'it repeats itself; four random words are good'
        : left.length < 6
          ? 'it is mostly a name or a common word; four random words are good'
          : undefined
  if (problem !== undefined) return { word: 'too weak', problem }
  return { word: [...passphrase].length >= STRONG ? 'strong' : 'fair' }
}

export interface Choice {
  readonly file: string | undefined
  readonly own: readonly string[]
  readonly question?: string
}

/** The passphrase that opens keys here, as a new one. */
export const choosePassphrase = (cli: Cli, choice: Choice): Promise<string> =>
  newPassphrase(cli, { ...choice, file: choice.file ?? (cli.io.env.STRONGROOM_PASSPHRASE_FILE || undefined) })

/** From a file, or typed twice. Refuses one that is too easy to guess. */
export async function newPassphrase(cli: Cli, { file, own, question = 'Passphrase' }: Choice): Promise<string> {
  if (file !== undefined) {
    const given = await secretFromFile(cli, file, '--passphrase-file')
    const { problem } = judgePassphrase(given, own)
    if (problem !== undefined) throw new CliError('weak_passphrase', `the passphrase is too weak: ${problem}`)
    return given
  }
  const check = (typed: string): string | undefined => judgePassphrase(typed, own).problem
  const typed = await cli.ask.secret(question, '--passphrase-file FILE', { check })
  await cli.ask.secret(`${question} again   (${judgePassphrase(typed, own).word})`, '--passphrase-file FILE', {
    check: (again) => (again === typed ? undefined : 'this is not the same'),
  })
  return typed
}

/** The passphrase that is there already. */
export async function existingPassphrase(cli: Cli, file: string | undefined, question: string): Promise<string> {
  const from = file ?? (cli.io.env.STRONGROOM_PASSPHRASE_FILE || undefined)
  return from === undefined
    ? cli.ask.secret(question, '--passphrase-file FILE')
    : secretFromFile(cli, from, '--passphrase-file')
}
