import { Agent, request } from 'node:http'

// `fetch` for the writers, as far as the SDK uses it. The built-in one costs as much processor time as the server itself, and the
// load and the server share a machine.

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export const leanFetch: typeof fetch = (input, init = {}) =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers, body, signal } = init
    const text = typeof body === 'string' ? body : undefined
    const call = request(String(input), {
      agent,
      method,
      ...(signal && { signal }),
      headers: {
        ...(headers instanceof Headers ? Object.fromEntries(headers) : (headers as Record<string, string>)),
        ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
      },
    })
    call.once('error', reject)
    call.once('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      // Cut off in the middle it is no answer.
      answer.once('close', () => {
        if (!answer.complete) return reject(new Error('the answer was cut off'))
        const plain = Object.entries(answer.headers).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        )
        resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers: plain }))
      })
    })
    call.end(text)
  })
