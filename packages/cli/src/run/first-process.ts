import type { Io } from '../place/io.ts'
import { isUnread } from './unread.ts'

// The first process of a container inherits the processes that others leave behind, and has to take note of their ends; otherwise
// the table of processes fills. Node cannot do that, but every shell can: so the first process becomes one that waits for whatever
// ends, passes signals on, and ends with the code of what it has started, which is this program again.
//
// Not on a terminal: there the shell and the command would both be told of Ctrl-C, and the command twice.

/** Says that we are behind such a shell, and what it may have changed on the way. */
const MARK = 'STRONGROOM_BEHIND_REAPER'
const CHANGED_BY_SHELLS = ['PWD', 'OLDPWD', 'SHLVL', '_'] as const

const REAPER = `pass() { got=1; if [ "$child" ]; then kill -"$1" "$child"; else early="$early $1"; fi; }
for name in HUP INT QUIT TERM USR1 USR2 ALRM VTALRM IO URG; do trap "pass $name 2>/dev/null" $name; done 2>/dev/null
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&- </dev/null
for name in $early; do kill -$name $child; done
while :; do
  got=
  wait $child
  code=$?
  [ "$got" ] || exit $code
  kill -0 $child 2>/dev/null && continue
  wait $child 2>/dev/null
  again=$?
  [ $again -eq 127 ] || code=$again
  exit $code
done`

/** Shells pass on only variables they could have themselves. */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Everything as it was before the shell. */
function comeBack(env: NodeJS.ProcessEnv, mark: string): void {
  delete env[MARK]
  const before = JSON.parse(mark) as Readonly<Record<string, string>>
  for (const name of CHANGED_BY_SHELLS) {
    const value = before[name]
    if (value === undefined) delete env[name]
    else env[name] = value
  }
}

/** Starts this program anew behind a shell if it is the first process; goes on where it is not, or cannot. */
export async function standBehindReaper(io: Io): Promise<void> {
  const { env } = process
  const mark = env[MARK]
  if (mark !== undefined && process.ppid === 1) return comeBack(env, mark)
  const streams = [io.stdin, io.stdout, io.stderr]
  // What nobody reads needs no masking: the command itself will be the first process, as without us.
  const isNeeded = process.pid === 1 && !isUnread(io) && !streams.some(({ isTTY }) => isTTY)
  const [node, script] = process.argv
  if (!isNeeded || !io.become || node === undefined || script === undefined) return
  const own = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  if (!own.every(([name]) => SHELL_NAME.test(name))) return
  const before = Object.fromEntries(own.filter(([name]) => (CHANGED_BY_SHELLS as readonly string[]).includes(name)))
  const again = [node, ...process.execArgv, script, ...io.argv]
  await io.become('/bin/sh', ['sh', '-c', REAPER, 'sh', ...again], {
    ...Object.fromEntries(own),
    [MARK]: JSON.stringify(before),
  })
}
