import { isUtf8 } from 'node:buffer'
import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'

const UTF_16_MARKS = ['fffe', 'feff']

const STANDARD_INPUT = 'standard input'

/** The text of a file somebody wrote. One that is not UTF-8 is refused: its letters would be lost, and nobody would see it. */
export function utf8Text(bytes: Buffer, name: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const from = UTF_16_MARKS.includes(bytes.subarray(0, 2).toString('hex')) ? 'UTF-16' : 'ISO-8859-1'
  const convert = `iconv -f ${from} -t UTF-8`
  throw new CliError('file_unreadable', `${name} is not UTF-8`, {
    fix: name === STANDARD_INPUT ? `pipe it through ${convert}` : convert + shellLine` ${name} > ${`${name}.utf8`}`,
  })
}

export const pipedText = (bytes: Buffer): string => utf8Text(bytes, STANDARD_INPUT)
