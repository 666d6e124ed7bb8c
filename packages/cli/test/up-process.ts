import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Value } from 'typebox/value'
import { expect, onTestFinished } from 'vitest'
import { ofThisRun } from '../../server/test/process.ts'
import { upEventShape } from '../src/schemas/up.ts'
import type { Machine } from './world.ts'

const BIN = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

export interface Up {
  readonly events: Record<string, unknown>[]
  readonly pid: number
  stderr(): string
  /** The next event. */
  next(): Promise<Record<string, unknown>>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<number | null>
}

/** `strongroom up --json` as a process; its events one after the other. */
export function startUp(machine: Machine, args: readonly string[]): Up {
  const child = spawn(process.execPath, [BIN, 'up', '--json', ...args], {
    env: { ...ofThisRun(), ...machine.env },
    cwd: machine.home,
  })
  onTestFinished(() => {
    child.kill('SIGTERM')
  })
  const events: Record<string, unknown>[] = []
  const waiting: ((event: Record<string, unknown>) => void)[] = []
  let [rest, stderr, taken] = ['', '', 0]
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as Record<string, unknown>
      expect([...Value.Errors(upEventShape, event)], line).toEqual([])
      events.push(event)
      waiting.shift()?.(event)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    events,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    next: () => {
      const event = events[taken]
      taken += 1
      if (event) return Promise.resolve(event)
      const over = ended.then((code) => {
        throw new Error(`up ended with ${code}: ${stderr}`)
      })
      return Promise.race([new Promise<Record<string, unknown>>((resolve) => waiting.push(resolve)), over])
    },
    kill: (signal) => child.kill(signal),
    ended,
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
