import { fstatSync, statSync } from 'node:fs'

// What the standard streams lead to, without opening them.

/** Whether what is written there is thrown away. */
export function isNowhere(fd: number): boolean {
  try {
    const found = fstatSync(fd)
    return found.isCharacterDevice() && found.rdev === statSync('/dev/null').rdev
  } catch {
    return false
  }
}

/** Asks Node only about devices: its own answer brings the network along, which most starts do without. */
export function isTerminal(fd: number): boolean {
  try {
    if (process.platform !== 'win32' && (!fstatSync(fd).isCharacterDevice() || isNowhere(fd))) return false
  } catch {
    return false
  }
  return process.getBuiltinModule('node:tty').isatty(fd)
}
