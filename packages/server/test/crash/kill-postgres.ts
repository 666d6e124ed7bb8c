import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The first process of the PostgreSQL that runs in a data directory of ours. */
export const postmasterOf = (dataDirectory: string): number =>
  Number(readFileSync(join(dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It was faster.
  }
}

/** All of its processes. The first is stopped before: it would tidy up after the others. */
export function killPostgres(postmaster: number): void {
  process.kill(postmaster, 'SIGSTOP')
  for (const child of childrenOf(postmaster)) end(child)
  end(postmaster)
}
