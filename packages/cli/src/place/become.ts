import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'

// Where nothing of ours is needed while a command runs, this process becomes the command. Signals, exit codes, the terminal, the
// process group and the first process of a container are then as without us, since we are not there.
//
// Node ends with an abort where the system refuses; so this is only for what the system surely takes: a program for this machine
// that has its loader, or a script whose interpreter is one, with few enough words. For everything else there is a child.

type Words = Readonly<Record<string, string>>

const HEADER_BYTES = 64
const PROGRAM_HEADER_BYTES = 56
const INTERPRETER = 3
/** Linux grants 128 KiB at the least. */
const MOST_BYTES = 96 * 1024
const MOST_PATH_BYTES = 4096
/** Class, byte order; machine. */
const SAME = [4, 5, 18, 19] as const

function readAt(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
}

function inFile<T>(path: string, look: (fd: number) => T): T {
  const fd = openSync(path, 'r')
  try {
    return look(fd)
  } finally {
    closeSync(fd)
  }
}

/** Who loads a program: a path, '' for one that needs nobody, undefined for what is no program of this machine. */
function loaderOf(path: string): string | undefined {
  const own = inFile('/proc/self/exe', (fd) => readAt(fd, 0, HEADER_BYTES))
  return inFile(path, (fd) => {
    const header = readAt(fd, 0, HEADER_BYTES)
    const isProgram = header.length === HEADER_BYTES && header.toString('latin1', 0, 4) === '\x7fELF' && own[4] === 2
    if (!isProgram || SAME.some((at) => header[at] !== own[at])) return undefined
    for (let i = 0; i < header.readUInt16LE(56); i += 1) {
      const entry = readAt(fd, Number(header.readBigUInt64LE(32)) + i * PROGRAM_HEADER_BYTES, PROGRAM_HEADER_BYTES)
      if (entry.length < PROGRAM_HEADER_BYTES) return undefined
      if (entry.readUInt32LE(0) !== INTERPRETER) continue
      const length = Math.min(Number(entry.readBigUInt64LE(32)), MOST_PATH_BYTES)
      return readAt(fd, Number(entry.readBigUInt64LE(8)), length)
        .toString('latin1')
        .replace(/\0.*$/s, '')
    }
    return ''
  })
}

function isProgram(path: string): boolean {
  const loader = loaderOf(path)
  if (loader === undefined) return false
  for (const needed of loader === '' ? [path] : [path, loader]) accessSync(needed, constants.X_OK)
  return true
}

/** Whether the system takes this file as it is; a script by its first line. */
function isTaken(path: string): boolean {
  try {
    const start = inFile(path, (fd) => readAt(fd, 0, 256)).toString('latin1')
    const [, interpreter] = /^#! *(\/[^\s\0]+)[^\n\0]*\n/.exec(start) ?? []
    return isProgram(interpreter ?? path)
  } catch {
    return false
  }
}

function isShort(words: readonly string[]): boolean {
  let bytes = 0
  for (const word of words) bytes += Buffer.byteLength(word) + 9
  return bytes < MOST_BYTES
}

/** Node ignores these, and a program goes on ignoring them; who has listened and listens no more has the system's way again. */
function listenToNone(): void {
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => undefined).removeAllListeners(signal)
}

/** This process becomes the program at `path`; comes back only where that is not sure to work. */
export function become(path: string, argv: readonly string[], env: Words): void {
  const words = [path, ...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  if (process.platform !== 'linux' || !process.execve || !isShort(words) || !isTaken(path)) return
  listenToNone()
  // Nobody tells of an end that is none, so what belongs to it is done now.
  process.emit('exit', 0)
  process.execve(path, argv, env)
}
