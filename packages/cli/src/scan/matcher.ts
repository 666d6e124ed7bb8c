import { makeRedactor, type Secret } from '@strongroom/sdk'

// Finds values one owns in other people's text, in the forms programs write them in. Nothing of a value leaves this file.

export interface Hit {
  /** `sr://…` of the value that was found. */
  readonly ref: string
  /** Counted from one. */
  readonly line: number
}

/** Shorter values are in every text. */
const SHORTEST = 8
const MARK = '\uE000'

export interface Matcher {
  readonly count: number
  find(bytes: Buffer): readonly Hit[]
}

/** What is kept in several places is one value, found once and reported for each of them. */
function byValue(secrets: readonly Secret[]): readonly (readonly Secret[])[] {
  const groups = new Map<string, Secret[]>()
  for (const secret of secrets) {
    const value = Buffer.from(secret.bytes()).toString('latin1')
    groups.set(value, [...(groups.get(value) ?? []), secret])
  }
  return [...groups.values()]
}

export function matcherOf(secrets: readonly Secret[]): Matcher {
  const usable = secrets.filter((secret) => secret.bytes().length >= SHORTEST)
  const values = byValue(usable)
  const names = values.map(([secret], i) => [String(i), secret?.bytes() ?? new Uint8Array()] as const)
  const findIn = (text: string): readonly Hit[] => {
    const redactor = makeRedactor(names, { label: (name) => `${MARK}${name}${MARK}` })
    const marked = redactor.write(text.replaceAll(MARK, ' ')) + redactor.end()
    if (Object.keys(redactor.hits).length === 0) return []
    return marked
      .split('\n')
      .flatMap((line, i) =>
        [...line.matchAll(/\uE000(\d+)\uE000/g)].flatMap((match) =>
          (values[Number(match[1])] ?? []).map(({ ref }) => ({ ref, line: i + 1 })),
        ),
      )
  }
  return {
    count: usable.length,
    find: (bytes) => {
      // As text, and byte by byte: a file that is no text may hold a value all the same.
      const [text, latin] = [bytes.toString('utf8'), bytes.toString('latin1')]
      const hits = text === latin ? findIn(text) : [...findIn(text), ...findIn(latin)]
      const once = new Map(hits.map((hit) => [`${hit.line} ${hit.ref}`, hit]))
      return [...once.values()]
    },
  }
}
