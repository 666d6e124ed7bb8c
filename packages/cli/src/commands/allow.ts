import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { allowedIn, allowTask, denyTask } from '../project/allowed-tasks.ts'
import {
  commandText,
  type ProjectTask,
  requireProject,
  requireTasks,
  taskNamed,
  variablesOf,
} from '../project/tasks.ts'

const shapes = () => import('../schemas/task.ts')
const TASK = 'a task of strongroom.toml; all of them if not given'

function ensurePerson({ isAgent }: Cli): void {
  if (!isAgent) return
  throw new CliError('allow_refused_for_agent', 'a coding agent drives this terminal, and cannot allow itself tasks', {
    fix: 'a person runs this command in a terminal of their own',
  })
}

/** A file that somebody else has written: nothing in it moves the cursor. */
const shown = (task: ProjectTask): string =>
  [
    `task ${safeText(task.name)} in ${safeText(task.folder)}`,
    `  runs  ${safeText(commandText(task))}`,
    ...variablesOf(task).map(
      ({ name, from }) => `  gets  ${safeText(name === '*' ? 'all variables' : name)} of ${safeText(from)}`,
    ),
  ].join('\n')

export const allow = command({
  summary: 'let coding agents run tasks of strongroom.toml',
  about:
    'Shows what a task runs and which variables it gets, and asks. From then on `strongroom mcp` runs it for a coding agent, until the task or what it gets is changed. What is allowed is the text in strongroom.toml, not the files that it starts: whoever can change those decides what happens with the values. Refused where a coding agent drives the terminal.',
  args: { task: arg.maybe(TASK) },
  flags: {},
  examples: [{ run: 'strongroom allow test', does: 'shows the task, asks, and remembers what it was' }],
  next: 'strongroom mcp --help',
  output: async () => (await shapes()).allowedShape,
  run: async (cli, { args }) => {
    ensurePerson(cli)
    const project = await requireTasks(cli.io.cwd)
    const tasks = args.task === undefined ? project.tasks : [taskNamed(project, args.task)]
    if (tasks.length === 0)
      throw new CliError('task_not_found', `${project.path} has no tasks`, { fix: 'add [tasks.NAME]' })
    for (const task of tasks) cli.say(shown(task))
    await confirm(cli, `Let coding agents run ${tasks.length === 1 ? 'this task' : `these ${tasks.length} tasks`}?`)
    for (const task of tasks) await allowTask(cli.paths, task)
    return {
      data: {
        project: project.path,
        tasks: tasks.map((task) => ({
          name: task.name,
          run: task.run,
          variables: variablesOf(task),
          digest: task.digest,
        })),
      },
      text: tasks.map(({ name }) => `${cli.style.good('✓')} ${safeText(name)} is allowed as it is now`).join('\n'),
      next: 'strongroom mcp --help',
    }
  },
})

export const deny = command({
  summary: 'take back what was allowed to coding agents',
  args: { task: arg.maybe(TASK) },
  flags: {},
  examples: [{ run: 'strongroom deny test', does: 'from now on it is refused' }],
  next: 'strongroom allow TASK',
  output: async () => (await shapes()).deniedShape,
  run: async (cli, { args }) => {
    const path = await requireProject(cli.io.cwd)
    const allowed = await allowedIn(cli.paths, path)
    const denied = args.task === undefined ? allowed : allowed.filter((name) => name === args.task)
    if (args.task !== undefined && denied.length === 0)
      throw new CliError('task_not_found', `no task of this name is allowed in ${path}`, {
        fix: allowed.length === 0 ? 'nothing is allowed there' : `allowed are: ${allowed.join(', ')}`,
      })
    for (const name of denied) await denyTask(cli.paths, path, name)
    const text = denied.map((name) => `${cli.style.good('✓')} ${safeText(name)} is not allowed any more`).join('\n')
    return { data: { project: path, denied }, text: denied.length === 0 ? 'nothing was allowed here' : text }
  },
})
