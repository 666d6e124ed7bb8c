// A QR code of half blocks: two rows of it in one line of a terminal.

const QUIET_ZONE = 2
/** By what is dark: above, below. */
const BLOCKS = [
  [' ', '▄'],
  ['▀', '█'],
] as const
const BLACK_ON_WHITE = '\u001b[30;107m'
const RESET = '\u001b[0m'

/** Black on white whatever the colours of the terminal are: many cameras do not read it the other way round. */
export async function qrText(text: string): Promise<string> {
  const { encodeQR } = await import('qr')
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: QUIET_ZONE })
  return rows
    .flatMap((row, i) => (i % 2 === 0 ? [line(row, rows[i + 1] ?? [])] : []))
    .map((drawn) => `${BLACK_ON_WHITE}${drawn}${RESET}`)
    .join('\n')
}

const line = (above: readonly boolean[], below: readonly boolean[]): string =>
  above.map((isDark, i) => BLOCKS[isDark ? 1 : 0][below[i] ? 1 : 0]).join('')

/** Columns that it takes. */
export const qrWidth = (code: string): number =>
  code.slice(0, code.indexOf('\n')).length - BLACK_ON_WHITE.length - RESET.length
