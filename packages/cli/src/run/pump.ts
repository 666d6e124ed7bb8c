import type { Readable } from 'node:stream'
import type { Masker } from './mask.ts'

// From the child to our own output, masked. A reader that is slow slows the child down; one that went away is gone for the child
// too, which then gets the same signal as if it had written there itself.

const SETTLE_MS = 40
/** What a child leaves behind may hold its output open for ever; the child's own end is what counts. */
const SILENT_MS = 100

export interface Pump {
  /** After the child has ended: resolves when everything it wrote is written. */
  drained(): Promise<void>
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

export function pump(source: Readable, target: NodeJS.WritableStream, masker: Masker): Pump {
  let isOver = false
  let isWaiting = false
  let chunks = 0
  let settling: NodeJS.Timeout | undefined
  let finish: () => void = () => undefined
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  /** Not before there is something to write: opening a stream takes its time. */
  const opened = once(() =>
    // A reader that went away is the child's affair, not the end of us.
    target.removeAllListeners('error').on('error', () => {
      isOver = true
      clearTimeout(settling)
      source.destroy()
      finish()
    }),
  )
  const write = (bytes: Buffer): void => {
    if (bytes.length === 0 || opened().write(bytes)) return
    isWaiting = true
    source.pause()
    target.once('drain', () => {
      isWaiting = false
      source.resume()
    })
  }
  const end = (): void => {
    if (isOver) return
    isOver = true
    clearTimeout(settling)
    const rest = masker.end()
    source.destroy()
    if (rest.length === 0 && chunks === 0) finish()
    else opened().write(rest, () => finish())
  }
  source.on('data', (chunk: Buffer) => {
    chunks += 1
    clearTimeout(settling)
    write(masker.write(chunk))
    settling = setTimeout(() => write(masker.settle()), SETTLE_MS)
  })
  source.on('end', end)
  // The other side of a terminal ends with an error (EIO).
  source.on('error', end)
  source.on('close', end)
  const whenSilent = (): void => {
    const before = chunks
    // Timers run before what is there to be read is read.
    setTimeout(() => setImmediate(() => (chunks === before && !isWaiting ? end() : whenSilent())), SILENT_MS)
  }
  return {
    drained: () => {
      if (!isOver) whenSilent()
      return finished
    },
  }
}
