// A question takes one line. What a terminal pastes into it may have more, and the rest would be lost without a word, or be typed
// into the shell when this program has ended.

/** How long a terminal is quiet before a paste is taken to be over. */
const QUIET_MS = 100
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals put these around what is pasted
const BRACKETS = /\u001b\[20[01]~/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: what one key sends
const KEY = /^(?:[^\u001b]|\u001b.*)$/su
// biome-ignore lint/suspicious/noControlCharactersInRegex: such as Ctrl-U and the backspace
const EDITS = /^[\u0001-\u0008\u000b\u000c\u000e-\u001a\u007f]/

export interface Paste {
  /** Aborted as soon as more than a line has come. */
  readonly signal: AbortSignal
  /** Settles when nothing more comes: whether there was more than a line. The terminal shows nothing of it. */
  over(): Promise<boolean>
}

/** Reads along what comes from this terminal, from now until `over`. */
export function watchPaste(terminal: NodeJS.ReadStream): Paste {
  const tooMuch = new AbortController()
  let [all, isPasted, lastMs] = ['', false, 0]
  let heard = (): void => undefined
  const take = (chunk: Uint8Array | string): void => {
    const text = String(chunk)
    const bare = text.replace(BRACKETS, '')
    isPasted ||= bare !== text || !KEY.test(text)
    // What comes after a while, or begins with a key that edits, is another attempt at the same question.
    all = performance.now() - lastMs > QUIET_MS || EDITS.test(bare) ? bare : all + bare
    lastMs = performance.now()
    // Line ends at the very end are the enter key, or were copied along. A tab means something to the question itself.
    if (isPasted && /[\t\r\n]/.test(all.replace(/[\r\n]+$/, ''))) tooMuch.abort()
    heard()
  }
  terminal.prependListener('data', take)
  const quiet = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, QUIET_MS)
      heard = () => void timer.refresh()
    })
  return {
    signal: tooMuch.signal,
    over: async () => {
      if (isPasted) {
        terminal.setRawMode(true).resume()
        await quiet()
        terminal.setRawMode(false).pause()
      }
      terminal.off('data', take)
      return tooMuch.signal.aborted
    },
  }
}
