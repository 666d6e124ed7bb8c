import type { Io } from './io.ts'

/** Set by coding agents in the terminals they drive. */
const SIGNS = [
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'CODEX_CI',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'OPENCODE',
  'CLINE_ACTIVE',
  'OPENCLAW_SHELL',
  'ANTIGRAVITY_CLI_ALIAS',
  'AI_AGENT',
] as const

/** Whether a coding agent reads what is printed here. A guard against accidents: whoever wants to can unset a variable. */
export function isAgentDriven({ env }: Pick<Io, 'env'>): boolean {
  const own = env.STRONGROOM_AGENT_MODE
  if (own !== undefined && own !== '') return own !== '0'
  return SIGNS.some((name) => (env[name] ?? '') !== '')
}
