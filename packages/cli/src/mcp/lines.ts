const NEWLINE = 0x0a

export interface Lines {
  write(chunk: Uint8Array): void
  /** What stands after the last line end. */
  end(): void
}

/** Cuts what comes into lines. Of one that is too long nothing is kept, and it is said once. */
export function cutLines(mostBytes: number, onLine: (line: Uint8Array) => void, onTooLong: () => void): Lines {
  let held: Uint8Array[] = []
  let size = 0
  const add = (part: Uint8Array): void => {
    if (size > mostBytes) return
    size += part.length
    if (size <= mostBytes) held.push(part)
    else {
      held = []
      onTooLong()
    }
  }
  const finish = (): void => {
    const isWhole = size <= mostBytes
    const line = Buffer.concat(held)
    held = []
    size = 0
    if (isWhole && line.toString('latin1').trim() !== '') onLine(line)
  }
  return {
    write: (chunk) => {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at))
        finish()
        from = at + 1
      }
      add(chunk.subarray(from))
    },
    end: finish,
  }
}
