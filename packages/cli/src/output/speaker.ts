import { detailLines } from '../errors/details.ts'
import type { ShownError } from '../errors/shown.ts'
import type { Result } from '../model/command.ts'
import type { GlobalFlags } from '../model/globals.ts'
import { isAgentDriven } from '../place/agent-mode.ts'
import type { Io } from '../place/io.ts'
import { pick } from './pick.ts'
import { safeText } from './safe-text.ts'
import { COLOURS, PLAIN, type Style, wantsColour } from './style.ts'

// Everything that is printed goes through here: data to standard output and nothing else, words to standard error.

export interface Speaker {
  readonly isJson: boolean
  readonly isAgent: boolean
  readonly isQuiet: boolean
  /** Somebody can answer questions. */
  readonly isInteractive: boolean
  /** For what goes to standard output. */
  readonly style: Style
  /** For what goes to standard error. */
  readonly errorStyle: Style
  /** A line for people; nothing in JSON and with --quiet. */
  say(line: string): void
  /** One thing of a stream: a line of JSON, or a line for people. */
  emit(event: Readonly<Record<string, unknown>>, text: string): void
  /** Raw data, such as a value or a file, as it is. */
  data(bytes: string | Uint8Array): Promise<void>
  result(result: Result): void
  error(error: ShownError): void
}

const ends = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** What cannot be written ends the program (place/io.ts): nothing goes on behind it, and it is said once. */
const written = (stream: NodeJS.WriteStream, bytes: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    stream.write(bytes, (error) => {
      if (!error) resolve()
    })
  })

export function speakerFor(io: Io, globals: GlobalFlags): Speaker {
  const { env, stdin, stdout, stderr } = io
  const isAgent = isAgentDriven(io)
  const isJson = globals.json || globals.pick !== undefined || env.STRONGROOM_OUTPUT === 'json' || isAgent
  const isQuiet = globals.quiet
  const off = globals['no-color'] || isAgent
  const style = wantsColour(io, Boolean(stdout.isTTY), off) ? COLOURS : PLAIN
  const errorStyle = wantsColour(io, Boolean(stderr.isTTY), off) ? COLOURS : PLAIN
  const noInput = globals['no-input'] || Boolean(env.STRONGROOM_NO_INPUT) || isAgent
  const isInteractive = Boolean(stdin.isTTY) && Boolean(stderr.isTTY) && !noInput
  const say = (line: string): void => {
    if (!isJson && !isQuiet) stderr.write(ends(line))
  }
  return {
    isJson,
    isAgent,
    isQuiet,
    isInteractive,
    style,
    errorStyle,
    say,
    emit: (event, text) => {
      stdout.write(ends(isJson ? JSON.stringify(event) : text))
    },
    data: (bytes) => written(stdout, bytes),
    result: ({ data, text, next, meta }) => {
      if (isJson) {
        const document = { data, ...(meta && { meta }) }
        stdout.write(ends(globals.pick === undefined ? JSON.stringify(document) : pick(document, globals.pick)))
        return
      }
      if (text !== undefined) stdout.write(ends(text))
      if (next !== undefined && stderr.isTTY) say(`\n${errorStyle.dim('Next')}   ${next}`)
    },
    error: (error) => {
      stderr.write(ends(isJson ? JSON.stringify({ error }) : errorText(error, errorStyle)))
    },
  }
}

/** What happened, the next command, where it is explained. */
function errorText({ code, message, hint, details, docs, requestId, evidence }: ShownError, style: Style): string {
  const lines = [`${style.bad('✗')} ${style.bold(code)}   ${safeText(message)}`]
  if (hint) lines.push(`  ${style.dim('fix')}       ${safeText(hint)}`)
  // Where the next step speaks of them; others say the same in words.
  if (details && /\bdetails\b/i.test(hint ?? ''))
    for (const line of detailLines(details)) lines.push(`  ${style.dim('details')}   ${safeText(line)}`)
  if (evidence) lines.push(`  ${style.dim('evidence')}  ${safeText(evidence)}`)
  if (docs) lines.push(`  ${style.dim('docs')}      ${[docs, requestId].filter(Boolean).join('   ')}`)
  else if (requestId) lines.push(`  ${style.dim('request')}   ${requestId}`)
  return lines.join('\n')
}
