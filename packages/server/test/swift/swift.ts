import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { S3Config } from '../../src/config.ts'
import { signHeaders } from '../../src/outside/sigv4.ts'

// A real S3-compatible server that checks signatures: OpenStack Swift from Debian (docs/decisions/0025).

const PYTHON = '/usr/bin/python3'

/** Why there is none; undefined if there is one. */
export function whyNoSwift(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import swift.common.middleware.s3api.s3api'])
  return status === 0
    ? undefined
    : 'OpenStack Swift is not installed (apt-get install python3-swift, as root on Debian)'
}

export interface Swift {
  readonly config: S3Config
  stop(): Promise<void>
}

async function makeBucket(config: S3Config): Promise<void> {
  const url = new URL(`${config.endpoint}/${config.bucket}`)
  const answer = await fetch(url, {
    method: 'PUT',
    headers: signHeaders({ method: 'PUT', url }, config, new Date()),
  })
  if (!answer.ok) throw new Error(`Swift made no bucket: ${answer.status} ${await answer.text()}`)
}

async function addressOf(server: ChildProcess): Promise<string> {
  if (!server.stdout) throw new Error('Swift has no output')
  for await (const line of createInterface({ input: server.stdout })) if (line.startsWith('http://')) return line
  throw new Error('Swift ended before it answered')
}

export async function startSwift(): Promise<Swift> {
  const folder = mkdtempSync(join(tmpdir(), 'sr-swift-'))
  const script = join(import.meta.dirname, 'server.py')
  // Its input stays open as long as this process lives, and it ends when that closes.
  const server = spawn(PYTHON, [script, folder], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(server, 'exit')
  const config = {
    endpoint: await addressOf(server),
    region: 'us-east-1',
    bucket: 'attachments',
    keyId: 'test:tester',
    secret: 'testing',
    prefix: 'strongroom/',
  }
  await makeBucket(config)
  return {
    config,
    stop: async () => {
      server.stdin?.end()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
