import { CliError } from '../errors/cli-error.ts'
import { nearest } from './nearest.ts'

/** Refuses a word that is no command, with the one it is near to. `where` is the group, with a blank behind it. */
export function unknownCommand(word: string, known: readonly string[], where: string): CliError {
  const near = nearest(word, known)
  return new CliError('usage', `there is no strongroom ${where}${word}`, {
    fix: near ? `did you mean: strongroom ${where}${near}` : `strongroom ${where}--help`,
  })
}
