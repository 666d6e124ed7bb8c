/** A word as a POSIX shell reads it. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/**
 * A command to be copied as it is: whatever names it is given, a shell reads them as the words they are. A list is as many words as it
 * has, and takes the blank before it along where it has none.
 */
export const shellLine = (
  text: TemplateStringsArray,
  ...parts: readonly (string | number | readonly string[])[]
): string =>
  parts.reduce<string>((line, part, at) => {
    const words = (typeof part === 'object' ? part : [part]).map((word) => shellWord(String(word)))
    return `${words.length === 0 ? line.trimEnd() : line}${words.join(' ')}${text[at + 1]}`
  }, text[0] ?? '')
