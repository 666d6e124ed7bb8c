import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ofThisRun } from './process.ts'

const PROGRAM = fileURLToPath(new URL('../src/operator/main.ts', import.meta.url))

interface Message {
  readonly type: string
  readonly step?: string
}

/** Begins a restore as `strongroom admin` does, and kills it while it makes the database. Its PostgreSQL goes on alone. */
export function killedRestore(data: string, file: string, passphrase: string): Promise<NodeJS.Signals | null> {
  const child = fork(PROGRAM, ['--data', data], {
    execArgv: [],
    env: { ...ofThisRun(), STRONGROOM_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.on('message', ({ type, step = '' }: Message) => {
    if (type === 'ready') child.send({ act: 'restore', file, passphrase })
    else if (type !== 'progress' || step.startsWith('migrating')) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
}
