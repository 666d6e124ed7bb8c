import type { CodeEntry } from './codes.ts'

// What the tools of `strongroom mcp` refuse with, and what stands between a coding agent and the tasks of a project.

const DENIED = 4
const NOT_FOUND = 5
const INVALID = 6

export const TASK_CODES = {
  task_not_found: {
    exitCode: NOT_FOUND,
    about: 'strongroom.toml has no task of this name, or there is none in this folder or above. Nothing was started.',
  },
  task_not_allowed: {
    exitCode: DENIED,
    about:
      'Nobody has allowed this task on this machine. A person looks at it and runs `strongroom allow TASK` in the folder of the project. Nothing was started.',
  },
  task_changed: {
    exitCode: DENIED,
    about:
      'The task, or what it gets, is not what a person has allowed. A person looks at it again and runs `strongroom allow TASK`. Nothing was started.',
  },
  secret_exists: {
    exitCode: INVALID,
    about: 'The field has a value, and nobody has said that it may be replaced. Nothing was written.',
  },
  allow_refused_for_agent: {
    exitCode: DENIED,
    about:
      'A coding agent drives this terminal, and it must not allow itself anything. A person runs the command in a terminal of their own. This is a courtesy, not a boundary.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
