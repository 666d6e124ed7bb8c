import type { Apart } from '../../src/licenses/apart.ts'
import { carryOut } from '../../src/licenses/errand.ts'
import { isSigned, signedHeaders } from '../../src/licenses/signed-http.ts'

// What stands in the place of `apart.ts` in a server that does it wrong.

const mutant = new URL(import.meta.url).search.slice(1)
const kept: string[] = []

/** Asks the provider once more, by itself, and does not seal what it hears. */
async function listen({ seller, ...errand }: Parameters<Apart>[0]): Promise<void> {
  if (errand.method === 'cancel' || !('url' in seller)) return
  const { externalId } = errand.order
  const headers = signedHeaders(seller.secret, `look-${externalId}`, errand.at, Buffer.alloc(0))
  const answer = await fetch(`${seller.url}/orders/${externalId}`, { headers })
  const body = Buffer.from(await answer.arrayBuffer())
  if (!isSigned(seller.secret, Object.fromEntries(answer.headers), body, errand.at)) return
  if (mutant === 'log') process.stdout.write(`${body.toString()}\n`)
  if (mutant === 'heap') kept.push(body.toString())
}

export const apart: Apart = async (errand) => {
  const answer = await carryOut(errand)
  if (mutant !== 'here') await listen(errand)
  return answer
}
