import type { Cli } from '../cli.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const SHOW_AFTER_MS = 300

export interface Progress {
  /** What is being done now, such as `3 of 12 vaults`. */
  update(text: string): void
}

/** Runs work that may take long. A terminal sees that it goes on, after a moment; everything else sees nothing. */
export async function withProgress<T>(cli: Cli, text: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  const { stderr } = cli.io
  if (!stderr.isTTY || cli.isJson || cli.isQuiet) return work({ update: () => undefined })
  let shown = text
  let frame = 0
  const started = Date.now()
  const draw = (): void => {
    if (Date.now() - started < SHOW_AFTER_MS) return
    frame = (frame + 1) % FRAMES.length
    stderr.write(`\r\u001b[2K${FRAMES[frame]} ${shown}`)
  }
  const timer = setInterval(draw, 80)
  try {
    return await work({
      update: (now) => {
        shown = now
      },
    })
  } finally {
    clearInterval(timer)
    if (Date.now() - started >= SHOW_AFTER_MS) stderr.write('\r\u001b[2K')
  }
}
