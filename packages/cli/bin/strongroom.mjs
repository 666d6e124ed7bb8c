#!/usr/bin/env node
// Starts the program: the built one where it is published, the sources on Node 24 in the repository. Builtins are not imported but
// asked for: an import of a builtin loads everything that it has.
const { existsSync } = process.getBuiltinModule('node:fs')
const { enableCompileCache } = process.getBuiltinModule('node:module')
const { fileURLToPath } = process.getBuiltinModule('node:url')

const inPackage = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Compiled code is kept between starts, where this Node can; in a folder of one's own, since whoever can write there is obeyed. */
function keepCompiled() {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env
  const cache = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`) || LOCALAPPDATA
  if (cache) enableCompileCache?.(`${cache}/strongroom/compiled`)
}

if (existsSync(inPackage('../dist/main.js'))) {
  keepCompiled()
  await import('../dist/main.js')
} else {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 24) await import('../src/main.ts')
  else {
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    const node = inPackage('../../../node_modules/.bin/node')
    const { status, signal } = spawnSync(node, [inPackage('strongroom.mjs'), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    if (signal) process.kill(process.pid, signal)
    process.exitCode = status ?? 1
  }
}
