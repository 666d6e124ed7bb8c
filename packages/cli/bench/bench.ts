import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryTrust, Strongroom } from '@strongroom/sdk'
import { keysOf, startServer } from '../../sdk/test/engine/server.ts'
import { buildProgram } from '../test/run/scene.ts'

// What `strongroom run` costs over the start of Node: the built program, beside `node -e 0` and beside dotenvx, which reads a file
// and verifies nothing. One after the other in every round, so that a busy moment of the machine is everybody's.

const ROUNDS = 21
const DOTENVX = fileURLToPath(new URL('../../../node_modules/@dotenvx/dotenvx/src/cli/dotenvx.js', import.meta.url))
const VARIABLES = 20
const secretNumber = (i: number): string => `value number ${i}`

interface Taken {
  readonly wall: number
  readonly cpu: number
}

/** By the clock of bash: of the child and all of its children, in milliseconds. */
function take(command: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Taken {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$@" >/dev/null 2>&1 </dev/null'
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...command], { encoding: 'utf8', env, cwd })
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}`)
  const [wall = 0, user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map((text) => Number(text) * 1000)
  return { wall, cpu: user + system }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

async function makeAgent(): Promise<{ readonly bundle: string; close(): Promise<void> }> {
  const { founder, url, close } = await startServer()
  const { accessToken, identity: privateKey, trustAnchor } = founder
  const alice = new Strongroom({
    server: url,
    accessToken,
    privateKey,
    trustAnchor,
    trustStore: memoryTrust(),
    cache: false,
  })
  await alice.vaults.create({ name: 'prod' })
  const fields = Array.from({ length: VARIABLES }, (_, i) => ({
    label: `VARIABLE_${i}`,
    value: secretNumber(i),
    isEnvironmentVariable: true,
  }))
  await alice.items.create('prod', { name: 'app', fields })
  const vaults = [{ vault: 'prod', role: 'read' as const }]
  const { bundle } = await alice.agents.create({ name: 'bench', keys: { material: keysOf('hybrid') }, vaults })
  return { bundle: bundle.reveal(), close }
}

const home = mkdtempSync(join(tmpdir(), 'sr-bench-'))
const [agent, built] = await Promise.all([makeAgent(), buildProgram()])
const env = { PATH: process.env.PATH ?? '', HOME: home, STRONGROOM_BUNDLE: agent.bundle }
writeFileSync(
  join(home, '.env'),
  Array.from({ length: VARIABLES }, (_, i) => `VARIABLE_${i}="${secretNumber(i)}"\n`).join(''),
)

const node = process.execPath
const strongroom = [node, built.program, 'run', '--vault', 'prod']
const COMMANDS = {
  'node -e 0': [node, '-e', '0'],
  true: ['/bin/true'],
  'dotenvx run -- true': [node, DOTENVX, 'run', '--quiet', '--', 'true'],
  'strongroom run --offline -- true': [...strongroom, '--offline', '--', 'true'],
  'strongroom run -- true': [...strongroom, '--', 'true'],
  // The others write to nobody, so nothing is masked; here somebody reads.
  'strongroom run --offline -- true | cat': ['sh', '-c', '"$@" | cat', 'sh', ...strongroom, '--offline', '--', 'true'],
} as const
type Name = keyof typeof COMMANDS
const TARGETS: Partial<Readonly<Record<Name, number>>> = {
  'strongroom run --offline -- true': 2,
  'strongroom run -- true': 3,
}

const taken = Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, [] as Taken[]])) as Record<Name, Taken[]>
const names = Object.keys(COMMANDS) as Name[]
// The first start reads what later ones find in the cache, and compiles what they find compiled.
for (const name of [...names].reverse()) take(COMMANDS[name], env, home)
// Every other round goes the other way round: whoever always comes after the largest finds the caches of the machine cold.
for (let round = 0; round < ROUNDS; round += 1)
  for (const name of round % 2 === 0 ? names : [...names].reverse()) taken[name].push(take(COMMANDS[name], env, home))

// What is measured must be the reading of secrets: an item whose fields are no variables is read just as well, and opens nothing.
const look = ['sh', '-c', 'printf %s "$VARIABLE_0" | wc -c']
const seen = spawnSync(node, [...strongroom.slice(1), '--', ...look], { encoding: 'utf8', env, cwd: home })
if (Number(seen.stdout) !== secretNumber(0).length)
  throw new Error(`the command did not get its secrets: ${seen.stderr}`)

const [, script, ...rest] = COMMANDS['strongroom run -- true']
const spoken = spawnSync(node, [script, '--verbose', ...rest], { encoding: 'utf8', env, cwd: home })
const requests = spoken.stderr.match(/^strongroom: GET /gm)?.length ?? 0

const of = (name: Name, what: keyof Taken): number => median(taken[name].map((one) => one[what]))
const base = (what: keyof Taken): number => of('node -e 0', what) + of('true', what)
console.log(`strongroom run, ${VARIABLES} secrets, median of ${ROUNDS}, alternating; × is of node -e 0 plus the child`)
for (const name of names) {
  const shown = (['wall', 'cpu'] as const).map(
    (what) =>
      `${what} ${of(name, what).toFixed(0).padStart(4)} ms ${(of(name, what) / base(what)).toFixed(2).padStart(5)} ×`,
  )
  const target = TARGETS[name]
  console.log(
    `  ${name.padEnd(40)} ${shown.join('   ')}${target === undefined ? '' : `   target ${target.toFixed(1)} ×`}`,
  )
}
console.log(`  requests of one start: ${requests}`)

await agent.close()
built.remove()
rmSync(home, { recursive: true, force: true })
