import { Writable } from 'node:stream'

const CONTINUES = 0b1000_0000

/** The last bytes of what was written, and how many there were before them. */
export interface OutputTail {
  readonly stream: NodeJS.WriteStream
  read(): { readonly text: string; readonly omittedBytes: number }
}

/** A model reads the end of what a program prints, and pays for every word. */
export function keepTail(mostBytes: number): OutputTail {
  let kept: Buffer = Buffer.alloc(0)
  let total = 0
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      total += chunk.length
      const all = Buffer.concat([kept, chunk])
      kept = all.subarray(Math.max(0, all.length - mostBytes))
      done()
    },
  })
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    read: () => {
      // A character that was cut in two is left out.
      const isCut = total > kept.length
      const begin = isCut
        ? Math.max(
            0,
            kept.findIndex((byte) => (byte & 0b1100_0000) !== CONTINUES),
          )
        : 0
      return { text: kept.subarray(begin).toString('utf8'), omittedBytes: total - (kept.length - begin) }
    },
  }
}
