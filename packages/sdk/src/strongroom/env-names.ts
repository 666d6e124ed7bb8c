import { IntegrityError } from './public-errors.ts'

// What a vault may set in a process. A label is whatever a writer chose: one that makes programs load or run something else, or that
// is no name at all, is not exported unless whoever reads says so by name.

/** Read by loaders, shells and runtimes before the program has a say. */
const LOADERS: ReadonlySet<string> = new Set(
  `PATH IFS ENV SHELLOPTS BASHOPTS BASH_ENV ZDOTDIR PS4 PROMPT_COMMAND EDITOR VISUAL PAGER BROWSER GCONV_PATH HOSTALIASES
  NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_NODE_OPTIONS
  PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONEXECUTABLE PYTHONUSERBASE PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT
  CLASSPATH JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS DOTNET_STARTUP_HOOKS SSL_CERT_FILE SSL_CERT_DIR
  GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EDITOR GIT_PAGER GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_TEMPLATE_DIR`.split(
    /\s+/,
  ),
)
/** Of the dynamic loader, of functions that a shell imports, of git's own settings, and of this client. */
const FAMILIES = /^(LD_|DYLD_|BASH_FUNC_|GIT_CONFIG|STRONGROOM_)/

/** Why no process should get a variable of this name from a vault; undefined where there is no reason. */
export function nameProblem(name: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused; by the name of their category they take longer.
  if (!/^[^=\u0000-\u001f\u007f-\u009f]+$/.test(name)) return 'is no name of a variable'
  const upper = name.toUpperCase()
  const isLoader = LOADERS.has(upper) || FAMILIES.test(upper)
  return isLoader ? 'changes how programs run' : undefined
}

/** Refuses an environment with a name that must not come out of a vault; `allowed` are those a caller wants nevertheless. */
export function ensureExportable(names: Iterable<string>, allowed: readonly string[] | 'any' = []): void {
  if (allowed === 'any') return
  for (const name of names) {
    const problem = allowed.includes(name) ? undefined : nameProblem(name)
    if (problem === undefined) continue
    throw new IntegrityError(`a field of the environment is called ${JSON.stringify(name)}, which ${problem}`, {
      code: 'env_name_refused',
      stage: 'content',
      evidence: '',
      details: { name },
      hint: 'Rename the field, or name it in allowNames if it is meant.',
    })
  }
}
