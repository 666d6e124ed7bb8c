import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ofThisRun } from '../../../server/test/process.ts'

// The programs as an operator runs them.

export const WITNESS = fileURLToPath(new URL('../../bin/witness.ts', import.meta.url))
export const AUDITOR = fileURLToPath(new URL('../../bin/auditor.ts', import.meta.url))
export const KILLED = fileURLToPath(new URL('./killed-witness.ts', import.meta.url))

export const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'sr-monitor-'))

export function writeConfig(directory: string, settings: object, name = 'config.json'): string {
  const path = join(directory, name)
  writeFileSync(path, JSON.stringify(settings))
  return path
}

export interface Ended {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...ofThisRun(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => {
      text[name] += chunk.toString()
    })
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code: code ?? signal ?? -1, ...text })),
  )
  return { child, ended }
}

export const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  start(program, args, env).ended

export interface Serving {
  readonly url: string
  readonly ended: Promise<Ended>
  end(signal?: NodeJS.Signals): Promise<Ended>
}

/** A witness that has said where it listens. */
export async function serve(program: string, config: string): Promise<Serving> {
  const { child, ended } = start(program, ['serve', '--config', config], {})
  const url = await Promise.race([
    new Promise<string>((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))),
    ended.then(({ stderr }) => {
      throw new Error(`the witness ended: ${stderr}`)
    }),
  ])
  return {
    url,
    ended,
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}
