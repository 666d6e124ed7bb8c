import { writeFileSync } from 'node:fs'
import { allSteps, reset, type Step, switchboard } from './steps.ts'

// Switches off each verification step of the sources, one at a time, and runs the cases it takes part in until one of them
// fails. A step that nobody misses is a step without a test, or not needed. Only cases in which the step refuses something
// can miss it, so a first run with every step on says which ones to try.
// Seen red: with the attacks alone, every limit and every malformed input was named as not caught; and so were two steps
// that another one made superfluous, since removed.
//
//   node packages/protocol/test/mutation/mutation.ts [--write] [part of a step's name]

interface Case {
  readonly id: string
  /** What is wrong, if anything; throws for any other surprise. */
  run(): Promise<readonly string[]>
}

/** Loaded only now, so that the sources come in with their steps named. */
async function loadCases(): Promise<readonly Case[]> {
  const { ATTACKS } = await import('../attacks/all.ts')
  const { dropSpareWorld, faultsOf } = await import('../attacks/attack.ts')
  const { EXTRA_CASES, faultsOfExtra } = await import('./extra-cases.ts')
  const attacks = Object.values(ATTACKS).flat()
  return [
    ...attacks.map(
      (attack): Case => ({
        id: attack.id,
        run: () => {
          dropSpareWorld()
          return faultsOf(attack)
        },
      }),
    ),
    ...EXTRA_CASES.map((one): Case => ({ id: one.id, run: () => faultsOfExtra(one) })),
  ]
}

/** Which steps refuse something in which case; a step can only be missed by those. */
async function rehearse(cases: readonly Case[]): Promise<ReadonlyMap<string, readonly Case[]>> {
  const casesOf = new Map<string, Case[]>()
  for (const one of cases) {
    reset(null)
    const faults = await one.run()
    if (faults.length > 0) throw new Error(`${one.id} fails with every step on: ${faults.join(', ')}`)
    for (const step of switchboard.failed) casesOf.set(step, [...(casesOf.get(step) ?? []), one])
  }
  return casesOf
}

const isMissedBy = async (step: Step, { run }: Case): Promise<boolean> => {
  reset(step.name)
  try {
    return (await run()).length > 0
  } catch {
    // Without its refusal the code stumbles over what should never have come so far.
    return true
  }
}

async function catcherOf(step: Step, cases: readonly Case[]): Promise<Case | undefined> {
  for (const one of cases) if (await isMissedBy(step, one)) return one
  return undefined
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const report = (caught: ReadonlyMap<Step, Case>): string =>
  [
    '# Which case catches which step',
    '',
    'Written by `npm run test:mutation -- --write`. Each verification step of the sources was switched off alone; the case',
    'is the first that then failed.',
    '',
    '| step | code | message | case |',
    '|---|---|---|---|',
    ...[...caught].map(
      ([{ file, code, message }, { id }]) => `| ${file} | ${escaped(code)} | ${escaped(message)} | ${id} |`,
    ),
    '',
  ].join('\n')

async function main(): Promise<void> {
  const [wanted = ''] = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const casesOf = await rehearse(await loadCases())
  const steps = allSteps().filter(({ name }) => name.includes(wanted))
  const caught = new Map<Step, Case>()
  for (const step of steps) {
    const catcher = await catcherOf(step, casesOf.get(step.name) ?? [])
    if (catcher) caught.set(step, catcher)
    console.log(
      `${catcher ? '' : 'NOT CAUGHT '}${step.name} ${step.code}: ${step.message} → ${catcher?.id ?? 'nobody'}`,
    )
  }
  const missed = steps.length - caught.size
  if (process.argv.includes('--write')) writeFileSync(new URL('caught-by.md', import.meta.url), report(caught))
  console.log(`mutation: ${steps.length} steps, ${caught.size} caught, ${missed} not caught, seed -`)
  if (missed > 0) process.exitCode = 1
}

await main()
