#!/usr/bin/env node
import { createClient } from '../src/client.ts'
import { makeAuditor } from '../src/monitor/auditor.ts'
import { EXIT, type ExitCode, follow } from '../src/monitor/follow.ts'
import { apiSource } from '../src/monitor/log-source.ts'
import { openCosigner, printKey, type Running, readArguments, runProgram } from '../src/monitor/program.ts'
import { openRecord } from '../src/monitor/record.ts'
import { acceptRecovery } from '../src/monitor/recovery.ts'
import { readAuditorSettings, readCredential, UsageError } from '../src/monitor/settings.ts'

// Replays every leaf of one organisation's log and cosigns what is true.

const text = { type: 'string' } as const
const OPTIONS = { config: text, name: text, statement: text, once: { type: 'boolean' } } as const

const usage =
  'usage: auditor key <file> --name <name> | auditor follow --config <file> [--once] | auditor recover --config <file> --statement <hash>'

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

/** After a restore, by whoever runs this auditor. The next look replays the restored log from its first leaf. */
async function recover(config: string, statement: string, { say }: Running): Promise<ExitCode> {
  const { anchor, server, stateDirectory } = await readAuditorSettings(config)
  const client = createClient({ baseUrl: server, ...(await readCredential(process.env)) })
  const record = openRecord(stateDirectory)
  const { keptSize, size, outgrowsAnchor } = await acceptRecovery({
    anchor,
    statement,
    record,
    directory: stateDirectory,
    client,
  })
  say(`goes on with the log that was restored to size ${keptSize} and has ${size} now`)
  if (outgrowsAnchor) say('the anchor of the settings asks for a longer log than is kept: put a new one there')
  return EXIT.done
}

async function run(args: readonly string[], running: Running): Promise<ExitCode> {
  const { values, positionals } = readArguments(args, OPTIONS)
  const [verb, file] = positionals
  if (verb === 'key' && file !== undefined && values.name !== undefined) return printKey(file, values.name, running)
  if (verb === 'recover' && values.config !== undefined && values.statement !== undefined)
    return recover(values.config, values.statement, running)
  if (verb !== 'follow' || values.config === undefined) throw new UsageError('say what to do')
  return audit(values.config, values.once === true, running)
}

await runProgram({ name: 'auditor', usage, run })
