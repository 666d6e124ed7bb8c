import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { makeAllVectors } from './vectors/all.ts'

// Writes packages/protocol/vectors/*.json, or with --check compares them with what is there.

const folder = resolve(import.meta.dirname, '../vectors')
const isCheck = process.argv.includes('--check')
const differing: string[] = []
let bytes = 0

for (const [name, text] of await makeAllVectors()) {
  const path = resolve(folder, name)
  bytes += Buffer.byteLength(text)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  differing.push(name)
  if (!isCheck) writeFileSync(path, text)
}

const what =
  differing.length === 0 ? 'all as committed' : `${isCheck ? 'differing' : 'written'}: ${differing.join(', ')}`
console.error(`vectors: ${Math.ceil(bytes / 1024)} KiB, ${what}`)
if (isCheck && differing.length > 0) process.exitCode = 1
