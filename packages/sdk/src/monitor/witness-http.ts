import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Submission, Verdict, Witness } from './witness.ts'

// The HTTP face of C2SP tlog-witness: POST <prefix>/add-checkpoint. Nobody is asked who they are: the signature of the log on the
// checkpoint is what counts.

/** 64 KiB of note, 63 hashes, and the line with the size. */
const MAX_BODY_BYTES = 65_536 + 63 * 45 + 32
const REQUEST_MS = 10_000
const OLD_LINE = /^old (0|[1-9][0-9]{0,15})$/
const HASH_LINE = /^[A-Za-z0-9+/]{43}=$/

/** Undefined for what is no submission. */
export function parseSubmission(body: string): Submission | undefined {
  const border = body.indexOf('\n\n')
  if (border < 0) return undefined
  const [first = '', ...proof] = body.slice(0, border).split('\n')
  const old = Number(OLD_LINE.exec(first)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(old) || !proof.every((line) => HASH_LINE.test(line))) return undefined
  return { old, proof, note: body.slice(border + 2) }
}

export const formatSubmission = ({ old, proof, note }: Submission): string =>
  `${[`old ${old}`, ...proof].join('\n')}\n\n${note}`

export interface HttpAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const said = (status: number, body: string, type = 'text/plain; charset=utf-8'): HttpAnswer => ({ status, type, body })
const size = (known: number): HttpAnswer => said(409, `${known}\n`, 'text/x.tlog.size')

export function answerTo(verdict: Verdict): HttpAnswer {
  switch (verdict.kind) {
    case 'cosigned':
      return said(200, `${verdict.line}\n`)
    case 'conflict':
      return size(verdict.known)
    case 'fork':
      return size(verdict.known.size)
    case 'unproven':
      return said(422, `${verdict.reason}\n`)
    case 'unknown-log':
      return said(404, 'this witness does not know the log\n')
    case 'untrusted':
      return said(403, `${verdict.reason}\n`)
    case 'malformed':
      return said(400, `${verdict.reason}\n`)
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    // Read to its end all the same, so that the answer arrives.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk as Buffer)
  }
  if (bytes > MAX_BODY_BYTES) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    return ''
  }
}

async function answer(witness: Witness, request: IncomingMessage, onVerdict: OnVerdict): Promise<HttpAnswer> {
  if (request.url !== '/add-checkpoint') return said(404, 'there is only /add-checkpoint\n')
  if (request.method !== 'POST') return said(405, 'use POST\n')
  const body = await readBody(request)
  if (body === undefined) return said(413, 'too large\n')
  const submission = parseSubmission(body)
  if (!submission) return said(400, 'not an old size, a proof, an empty line and a checkpoint\n')
  const verdict = await witness.submit(submission)
  await onVerdict(verdict)
  return answerTo(verdict)
}

export type OnVerdict = (verdict: Verdict) => void | Promise<void>

/** Not listening yet. `onVerdict` sees every verdict before it is answered. */
export function witnessServer(witness: Witness, onVerdict: OnVerdict = () => undefined): Server {
  return createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    void answer(witness, request, onVerdict)
      .catch(() => said(500, 'the witness could not decide\n'))
      .then(({ status, type, body }) => {
        response.writeHead(status, { 'content-type': type, ...(status === 405 && { allow: 'POST' }) }).end(body)
      })
  })
}
