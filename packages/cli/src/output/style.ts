import type { Io } from '../place/io.ts'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  name(text: string): string
}

const paint =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`
const plain = (text: string): string => text

export const COLOURS: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  good: paint(32, 39),
  bad: paint(31, 39),
  warn: paint(33, 39),
  name: paint(36, 39),
}
export const PLAIN: Style = { bold: plain, dim: plain, good: plain, bad: plain, warn: plain, name: plain }

/** NO_COLOR and --no-color win, then FORCE_COLOR and CLICOLOR_FORCE, then whether somebody looks. */
export function wantsColour({ env }: Io, isTerminal: boolean, isOff: boolean): boolean {
  if (isOff || (env.NO_COLOR ?? '') !== '' || env.CLICOLOR === '0' || env.TERM === 'dumb') return false
  const forced = env.FORCE_COLOR ?? env.CLICOLOR_FORCE
  return forced === undefined || forced === '' ? isTerminal : forced !== '0'
}
