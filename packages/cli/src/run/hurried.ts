import { setFlagsFromString } from 'node:v8'

// A start is over before code that was compiled once more, to be faster, has paid for that. V8 compiles it all the same, on other threads,
// and whoever starts the program pays for that, too.

const TIERS = ['opt', 'maglev', 'sparkplug'] as const

/** Elsewhere not all of them are on, and what is off stays so. */
const hasTiers = (): boolean => /^24\./.test(process.versions.node)

const allow = (isAllowed: boolean): void => {
  for (const tier of TIERS) setFlagsFromString(isAllowed ? `--${tier}` : `--no-${tier}`)
}

/**
 * Meanwhile V8 runs everything as it is. Only for what is short and loads nothing: what was compiled and kept, by Node or by us, is
 * refused while flags are other ones.
 */
export async function hurried<T>(work: () => Promise<T>): Promise<T> {
  if (!hasTiers()) return work()
  allow(false)
  try {
    return await work()
  } finally {
    allow(true)
  }
}
