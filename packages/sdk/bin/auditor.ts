#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { createClient } from '../src/client.ts'
import { makeAuditor } from '../src/monitor/auditor.ts'
import { type ExitCode, follow } from '../src/monitor/follow.ts'
import { apiSource } from '../src/monitor/log-source.ts'
import { openCosigner, printKey, type Running, runProgram } from '../src/monitor/program.ts'
import { openRecord } from '../src/monitor/record.ts'
import { readAuditorSettings, readCredential, UsageError } from '../src/monitor/settings.ts'

// Replays every leaf of one organisation's log and cosigns what is true.

const usage = 'usage: auditor key <file> --name <name> | auditor follow --config <file> [--once]'

async function audit(config: string, isOnce: boolean, { signal, say }: Running): Promise<ExitCode> {
  const settings = await readAuditorSettings(config)
  const auditor = makeAuditor({
    cosigner: await openCosigner(settings),
    anchor: settings.anchor,
    record: openRecord(settings.stateDirectory),
    directory: settings.stateDirectory,
  })
  const client = createClient({ baseUrl: settings.server, ...(await readCredential(process.env)) })
  return follow({
    look: auditor.look,
    source: apiSource(client, signal),
    everyMs: settings.everyMs,
    refreshMs: settings.refreshMs,
    directory: settings.stateDirectory,
    signal,
    once: isOnce,
    say,
  })
}

async function run(args: readonly string[], running: Running): Promise<ExitCode> {
  const { values, positionals } = readArguments(args)
  const [verb, file] = positionals
  if (verb === 'key' && file !== undefined && values.name !== undefined) return printKey(file, values.name, running)
  if (verb !== 'follow' || values.config === undefined) throw new UsageError('say what to do')
  return audit(values.config, values.once === true, running)
}

function readArguments(args: readonly string[]) {
  const options = { config: { type: 'string' }, name: { type: 'string' }, once: { type: 'boolean' } } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

await runProgram({ name: 'auditor', usage, run })
