#!/usr/bin/env node
// Starts the program: the built one where it is published, the sources on Node 24 in the repository.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const built = new URL('../dist/main.js', import.meta.url)
if (existsSync(built)) {
  // Compiled code is kept between starts, where this Node can.
  nodeModule.enableCompileCache?.()
  await import(built.href)
} else {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 24) await import('../src/main.ts')
  else {
    const { spawnSync } = await import('node:child_process')
    const { fileURLToPath } = await import('node:url')
    const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url))
    const { status, signal } = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    if (signal) process.kill(process.pid, signal)
    process.exitCode = status ?? 1
  }
}
