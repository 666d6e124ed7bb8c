#!/usr/bin/env node
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient } from '../src/client.ts'
import { EXIT, type ExitCode, follow } from '../src/monitor/follow.ts'
import { apiSource } from '../src/monitor/log-source.ts'
import { openCosigner, printKey, type Running, readArguments, runProgram } from '../src/monitor/program.ts'
import { lookAsWitness } from '../src/monitor/pull.ts'
import { openRecord } from '../src/monitor/record.ts'
import { acceptRecovery } from '../src/monitor/recovery.ts'
import { keepContradiction } from '../src/monitor/refusals.ts'
import { readCredential, readWitnessSettings, UsageError, type WitnessSettings } from '../src/monitor/settings.ts'
import { makeWitness, type Verdict, type Witness } from '../src/monitor/witness.ts'
import { witnessServer } from '../src/monitor/witness-http.ts'

// A C2SP witness: it answers logs that call it (serve), or looks at one organisation's log by itself (follow).

const text = { type: 'string' } as const
const OPTIONS = { config: text, name: text, statement: text, anchor: text, once: { type: 'boolean' } } as const

const usage =
  'usage: witness key <file> --name <name> | witness serve --config <file> | witness follow --config <file> [--once] | witness recover --config <file> --anchor <trust anchor> --statement <hash>'

async function openWitness(settings: WitnessSettings): Promise<Witness> {
  const record = openRecord(settings.stateDirectory)
  return makeWitness({ cosigner: await openCosigner(settings), logs: settings.logs, record })
}

async function serve(settings: WitnessSettings, { signal, say, print }: Running): Promise<ExitCode> {
  if (!settings.listen) throw new UsageError('the settings do not say where to "listen"')
  const onVerdict = async (verdict: Verdict): Promise<void> => {
    if (verdict.kind !== 'fork') return
    const { known, note } = verdict
    const evidence = { version: 1, kind: 'contradiction', code: 'log_fork', known: known.note, served: note } as const
    const [origin = ''] = note.split('\n')
    const message = `the log has two roots for size ${known.size}`
    say(
      `refused: ${message}; evidence in ${await keepContradiction(settings.stateDirectory, { ...evidence, origin, message })}`,
    )
  }
  const server = witnessServer(await openWitness(settings), onVerdict)
  server.listen(settings.listen.port, settings.listen.host)
  await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  print(`http://${address.includes(':') ? `[${address}]` : address}:${port}/add-checkpoint`)
  if (!signal.aborted) await once(signal, 'abort')
  server.close()
  server.closeIdleConnections()
  return EXIT.done
}

async function pull(settings: WitnessSettings, isOnce: boolean, { signal, say }: Running): Promise<ExitCode> {
  const [log, ...others] = settings.logs
  if (!log || others.length > 0 || settings.server === undefined)
    throw new UsageError('to follow a log, the settings name one log and its "server"')
  const witness = await openWitness(settings)
  const client = createClient({ baseUrl: settings.server, ...(await readCredential(process.env)) })
  return follow({
    look: (source) => lookAsWitness(witness, log.origin, source),
    source: apiSource(client, signal),
    everyMs: settings.everyMs,
    refreshMs: settings.refreshMs,
    directory: settings.stateDirectory,
    signal,
    once: isOnce,
    say,
  })
}

/** After a restore, by whoever runs this witness. */
async function recover(
  { server, stateDirectory }: WitnessSettings,
  named: { readonly anchor: string; readonly statement: string },
  { say }: Running,
): Promise<ExitCode> {
  if (server === undefined) throw new UsageError('to look at a recovery, the settings name the "server"')
  const client = createClient({ baseUrl: server, ...(await readCredential(process.env)) })
  const record = openRecord(stateDirectory)
  const { keptSize, size } = await acceptRecovery({ ...named, record, directory: stateDirectory, client })
  say(`goes on with the log that was restored to size ${keptSize} and has ${size} now`)
  return EXIT.done
}

async function run(args: readonly string[], running: Running): Promise<ExitCode> {
  const { values, positionals } = readArguments(args, OPTIONS)
  const [verb, file] = positionals
  if (verb === 'key' && file !== undefined && values.name !== undefined) return printKey(file, values.name, running)
  if (values.config === undefined) throw new UsageError('say which settings to use: --config <file>')
  const settings = await readWitnessSettings(values.config)
  if (verb === 'serve') return serve(settings, running)
  const { anchor, statement } = values
  if (verb === 'recover' && anchor !== undefined && statement !== undefined)
    return recover(settings, { anchor, statement }, running)
  if (verb === 'follow') return pull(settings, values.once === true, running)
  throw new UsageError('say what to do')
}

await runProgram({ name: 'witness', usage, run })
