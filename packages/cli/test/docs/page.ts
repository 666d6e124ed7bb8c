// A page of the documentation, as what there is to do with it: files to write, commands to run, output to compare.
//
// A comment in front of a block says what its text cannot:
//   <!-- starts: STATE -->          once, at the top: what the reader has already
//   <!-- file: NAME -->             the block is a file of this name
//   <!-- example: NAME -->          the block is the file of this name in examples/
//   <!-- answers ... -->            what a person answers, a line for each question: question = answer
//   <!-- the server is stopped -->  by Ctrl-C, before the block
//   <!-- not run: REASON -->        the block cannot be run by a test
// `# exits with N` behind a command is its exit code, 0 otherwise. A ```text block right behind commands is what they print, `…` is
// anything.

export const STATES = ['nothing', 'founder', 'prod'] as const
export type State = (typeof STATES)[number]

export interface Answer {
  readonly question: string
  readonly answer: string
}

export type Step =
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly text: string }
  | { readonly kind: 'example'; readonly line: number; readonly name: string; readonly text: string }
  | {
      readonly kind: 'run'
      readonly line: number
      readonly text: string
      readonly answers: readonly Answer[]
      readonly isStopped: boolean
      shows?: string
    }
  | { readonly kind: 'not run'; readonly line: number; readonly reason: string }

export interface Page {
  readonly path: string
  readonly starts: State | undefined
  readonly steps: readonly Step[]
}

const BLOCK = /(?:<!-- *((?:(?!-->)[\s\S])*?) *-->\n)?^( *)```(\S*)\n([\s\S]*?)^ *```$/gm

const answersOf = (comment: string): Answer[] =>
  comment
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ = ?/))
    .map(([question = '', answer = '']) => ({ question: question.trim(), answer }))

function stepOf(comment: string, language: string, text: string, line: number): Step | undefined {
  const [, file] = /^file: (.+)$/.exec(comment) ?? []
  if (file !== undefined) return { kind: 'file', line, name: file, text }
  const [, example] = /^example: (.+)$/.exec(comment) ?? []
  if (example !== undefined) return { kind: 'example', line, name: example, text }
  if (language !== 'sh') return undefined
  const [, reason] = /^not run: (.+)$/s.exec(comment) ?? []
  if (reason !== undefined) return { kind: 'not run', line, reason }
  // What is not understood is never run: it may have been meant to say so.
  if (comment !== '' && !/^(?:answers\n|the server is stopped$|starts: )/.test(comment))
    throw new Error(`line ${line}: <!-- ${comment} --> is none of the comments there are`)
  const answers = comment.startsWith('answers') ? answersOf(comment) : []
  return { kind: 'run', line, text, answers, isStopped: comment === 'the server is stopped' }
}

export function parsePage(path: string, text: string): Page {
  const starts = STATES.find((state) => text.includes(`<!-- starts: ${state} -->`))
  const steps: Step[] = []
  let last: { readonly step: Step | undefined; readonly end: number } = { step: undefined, end: -1 }
  for (const found of text.matchAll(BLOCK)) {
    const [whole, comment = '', indent = '', language = '', body = ''] = found
    const content = body.replace(new RegExp(`^${indent}`, 'gm'), '')
    const isBehind = text.slice(last.end, found.index).trim() === ''
    if (language === 'text' && isBehind && last.step?.kind === 'run') last.step.shows = content
    const line = text.slice(0, found.index).split('\n').length
    const step = language === 'text' && comment === '' ? undefined : stepOf(comment, language, content, line)
    if (step) steps.push(step)
    last = { step, end: found.index + whole.length }
  }
  return { path, starts, steps }
}

export interface Line {
  readonly text: string
  readonly exitCode: number
}

/** The commands of a block: one a line, longer where a line ends in a backslash or begins a document. */
export function linesOf(block: string): Line[] {
  const lines: Line[] = []
  const rest = block.split('\n')
  while (rest.length > 0) {
    let text = rest.shift() ?? ''
    while (text.endsWith('\\') && rest.length > 0) text += `\n${rest.shift()}`
    const [, end] = /<<'?(\w+)'?/.exec(text) ?? []
    if (end !== undefined) {
      const last = rest.indexOf(end)
      text = [text, ...rest.splice(0, last + 1)].join('\n')
    }
    const [, code] = / +# exits with (\d+)$/.exec(text) ?? []
    if (text.trim() !== '' && !text.startsWith('#')) lines.push({ text: text.trim(), exitCode: Number(code ?? 0) })
  }
  return lines
}

const pattern = (line: string): RegExp =>
  new RegExp(
    `^${line
      .trimEnd()
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )

/** The lines that are shown and were not printed, in order; a line `…` stands for any number of lines. */
export function missingLines(shown: string, printed: string): string[] {
  const actual = printed.split('\n').map((line) => line.trimEnd())
  let at = 0
  return shown
    .split('\n')
    .filter((line) => line.trim() !== '' && line.trim() !== '…')
    .filter((line) => {
      const found = actual.slice(at).findIndex((one) => pattern(line).test(one))
      if (found >= 0) at += found + 1
      return found < 0
    })
}
