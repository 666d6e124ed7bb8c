/** A word as a POSIX shell reads it. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** A command to be copied as it is: whatever names it is given, a shell reads them as the words they are. */
export const shellLine = (text: TemplateStringsArray, ...words: readonly (string | number)[]): string =>
  String.raw({ raw: text }, ...words.map((word) => shellWord(String(word))))
