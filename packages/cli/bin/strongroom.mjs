#!/usr/bin/env node
// Starts the sources, on Node 24; what is published is started by scripts/starter.cjs. Builtins are not imported but asked for: an
// import of a builtin loads everything that it has.
const { fileURLToPath } = process.getBuiltinModule('node:url')

const inPackage = (path) => fileURLToPath(new URL(path, import.meta.url))

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
