import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Every call of `ensure(` in the sources is a step. While they are loaded, each call is given its name, so that one process
// can switch any of them off and on again.

export interface Step {
  /** `file:line`, and a letter where a line has several. */
  readonly name: string
  readonly file: string
  readonly line: number
  readonly code: string
  readonly message: string
}

/** What the rewritten sources ask at each step. */
export interface Switchboard {
  /** The step that is switched off. */
  off: string | null
  /** The steps whose condition did not hold since the last reset. */
  readonly failed: Set<string>
  calls: number
  /** Caches of the sources that a switched-off step could poison. */
  readonly caches: { clear(): void }[]
  /** True if the step is to be skipped. */
  skips(step: string, condition: unknown): boolean
}

/** A switched-off bound may turn a refusal into an endless walk; no honest case comes near this many steps. */
const MAX_CALLS = 2_000_000

export const switchboard: Switchboard = {
  off: null,
  failed: new Set(),
  calls: 0,
  caches: [],
  skips(step, condition) {
    if (++this.calls > MAX_CALLS) throw new Error('this does not come to an end')
    if (condition) return false
    this.failed.add(step)
    return step === this.off
  },
}

export function reset(off: string | null): void {
  switchboard.off = off
  switchboard.calls = 0
  switchboard.failed.clear()
  for (const cache of switchboard.caches) cache.clear()
}

const SOURCES = new URL('../../src/', import.meta.url)
const CALL = /(?<![\w.])ensure\(/g

/** The arguments of a call, as they are written; `start` is behind the opening bracket. */
function argumentsAt(source: string, start: number): string[] {
  const found: string[] = []
  let depth = 0
  let quote = ''
  let begin = start
  for (let at = start; ; at++) {
    const char = source.charAt(at)
    if (quote) {
      if (char === '\\') at++
      else if (char === quote) quote = ''
    } else if ('\'"`'.includes(char)) quote = char
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char) && depth-- === 0) return [...found, source.slice(begin, at)]
    else if (char === ',' && depth === 0) {
      found.push(source.slice(begin, at))
      begin = at + 1
    }
  }
}

const unquoted = (text = ''): string =>
  text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^(['"`])(.*)\1$/, '$2')

function stepsOf(file: string, source: string): { steps: Step[]; places: number[] } {
  const steps: Step[] = []
  const places: number[] = []
  for (const { index } of source.matchAll(CALL)) {
    const line = source.slice(0, index).split('\n').length
    const [, code, message] = argumentsAt(source, index + 'ensure('.length)
    const others = steps.filter((step) => step.line === line).length
    const name = `${file}:${line}${others > 0 ? String.fromCharCode(97 + others) : ''}`
    steps.push({ name, file, line, code: unquoted(code), message: unquoted(message) })
    places.push(index)
  }
  return { steps, places }
}

const isInstrumented = (file: string): boolean => file.endsWith('.ts') && file !== 'errors.ts'

/** All steps of the sources, in the order of files and lines. */
export const allSteps = (): readonly Step[] =>
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter(isInstrumented)
    .sort()
    .flatMap((file) => stepsOf(file, readFileSync(new URL(file, SOURCES), 'utf8')).steps)

/** `ensure(` becomes `ensure.at('file:line')(`. */
function named(file: string, source: string): string {
  const { steps, places } = stepsOf(file, source)
  let out = ''
  let done = 0
  for (const [i, place] of places.entries()) {
    out += `${source.slice(done, place)}ensure.at('${steps[i]?.name}')(`
    done = place + 'ensure('.length
  }
  return out + source.slice(done)
}

const AT = `
ensure.at = (step) => (condition, ...rest) => {
  if (!globalThis.switchboard.skips(step, condition)) ensure(condition, ...rest)
}
`

/** What is added to a source besides the names of its steps. */
const ADDED: Readonly<Record<string, string>> = {
  'errors.ts': AT,
  // A key that a switched-off step let through must not count as checked afterwards.
  'identity/key-bundle.ts': '\nglobalThis.switchboard.caches.push(passed)\n',
}

Object.assign(globalThis, { switchboard })
const home = pathToFileURL(fileURLToPath(SOURCES)).href
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith(home) || !loaded.source) return loaded
    const file = url.slice(home.length)
    const source = loaded.source.toString()
    const text = isInstrumented(file) ? named(file, source) : source
    return { ...loaded, source: text + (ADDED[file] ?? '') }
  },
})
