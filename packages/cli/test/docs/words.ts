// The words of a command line that needs no shell: quotes, and a file for the output. Undefined: let a shell do it.

export interface Plain {
  readonly words: readonly string[]
  /** Where the standard output goes. */
  readonly into?: string
}

const WORD = /'([^']*)'|"([^"$`\\]*)"|([^\s'"$`\\|&;<>()*?[\]{}~#!]+)/y

/** Text without quotes, or nothing where a shell would do more than take it as it is. */
export function plainWords(line: string): Plain | undefined {
  const text = line.replace(/\\\n\s*/g, ' ').replace(/ +# exits with \d+$/, '')
  const [command = '', into, ...more] = text.split(/ > (?=[\w./-]+$)/)
  if (more.length > 0) return undefined
  const words: string[] = []
  let at = 0
  while (at < command.length) {
    if (command.charAt(at) === ' ') {
      at += 1
      continue
    }
    let word = ''
    const start = at
    while (at < command.length && command.charAt(at) !== ' ') {
      WORD.lastIndex = at
      const found = WORD.exec(command)
      if (!found) return undefined
      word += found[1] ?? found[2] ?? found[3] ?? ''
      at += found[0].length
    }
    if (at === start) return undefined
    words.push(word)
  }
  return { words, ...(into !== undefined && { into }) }
}
