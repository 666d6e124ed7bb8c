import { readFileSync } from 'node:fs'
import { createClient } from '@strongroom/sdk'
import { openVault } from '../test/vault-writer.ts'
import { describeBytes, median, wait } from './rounds.ts'
import type { Subject } from './vaults.ts'

// A list of ten thousand items, and a search among all that somebody can see: what the server's memory and its callers notice.

const LIMIT_GROWTH_BYTES = 100_000_000
const TURNS = 5
const SEARCHES = ['database', 'datbase 512', 'team 77', 'URL_3']
const SETTLED_MS = 1500
const WATCH_MS = 2

function residentBytes(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** The most it has while `run` goes on, over what it had before; undefined where the system does not tell. */
async function growthOf(pid: number, run: () => Promise<unknown>): Promise<number | undefined> {
  if (process.platform !== 'linux') {
    await run()
    return undefined
  }
  await wait(SETTLED_MS)
  const before = residentBytes(pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, WATCH_MS)
  await run()
  clearInterval(watch)
  return Math.max(most, residentBytes(pid)) - before
}

/** On a server that has done nothing yet: memory that other work has left would hide what this takes. */
export async function benchList({ server, world }: Subject): Promise<string[]> {
  const { listed, searcher } = world
  if (!listed || !searcher) throw new Error('there is no long list')
  const baseUrl = `http://127.0.0.1:${server.port}`
  const client = createClient({ baseUrl, apiKey: searcher.apiKey })
  const identity = listed.readers[0]
  if (!identity) throw new Error('nobody reads the long list')
  const url = `${baseUrl}/api/v1/machine/vault/${listed.vaultId}/items`
  const times: number[] = []
  let bytes = 0
  const growth = await growthOf(server.pid, async () => {
    for (let i = 0; i < TURNS; i++) {
      const start = performance.now()
      const answer = await fetch(url, { headers: { 'x-api-key': searcher.apiKey } })
      bytes = 0
      for await (const chunk of answer.body ?? []) bytes += chunk.length
      times.push(performance.now() - start)
    }
  })
  const { content } = await openVault({ ...world, client, identity }, listed.vaultId)
  const said = growth === undefined ? 'not known here' : describeBytes(growth, LIMIT_GROWTH_BYTES)
  return [
    `list of ${content.items.size} items with ${content.env.size} environment rows, ${TURNS} times in a row, then verified:`,
    `  median ${median(times).toFixed(0)} ms; ${(bytes / 1e6).toFixed(1)} MB each; RSS grows by ${said}`,
  ]
}

export async function benchSearch({ server, world }: Subject, visible: string): Promise<string[]> {
  const { searcher } = world
  if (!searcher) throw new Error('nobody searches')
  const client = createClient({ baseUrl: `http://127.0.0.1:${server.port}`, apiKey: searcher.apiKey })
  const lines = [`search by somebody who can see ${visible}, one after the other:`]
  for (const query of SEARCHES) {
    const times: number[] = []
    let hits = 0
    for (let i = 0; i < TURNS; i++) {
      const start = performance.now()
      hits = (await client.search.query({ body: { query } })).data.length
      times.push(performance.now() - start)
    }
    lines.push(`  ${`${JSON.stringify(query)}:`.padEnd(20)} median ${median(times).toFixed(0)} ms; ${hits} hits`)
  }
  return lines
}
