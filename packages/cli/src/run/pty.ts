import { createRequire } from 'node:module'

// Pseudo-terminals. The native part of @lydell/node-pty is used directly: its wrapper decodes what comes as text, changes TERM and
// PWD, and gives up on output that comes late.

interface Native {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    isUtf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string }
  open(cols: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string }
  resize(fd: number, cols: number, rows: number): void
}

export interface Ptys {
  readonly native: Native
  /** Needed by macOS. */
  readonly helper: string
}

/** Undefined where there is no build for this system. */
export function loadPtys(): Ptys | undefined {
  if (process.platform === 'win32') return undefined
  try {
    const outer = createRequire(import.meta.url)
    const inner = createRequire(outer.resolve('@lydell/node-pty'))
    const place = `@lydell/node-pty-${process.platform}-${process.arch}`
    const native = inner(`${place}/pty.node`) as Native
    return { native, helper: process.platform === 'darwin' ? inner.resolve(`${place}/spawn-helper`) : '' }
  } catch {
    return undefined
  }
}

export interface Size {
  readonly cols: number
  readonly rows: number
}

export const sizeOf = ({ columns, rows }: Partial<Pick<NodeJS.WriteStream, 'columns' | 'rows'>>): Size => ({
  cols: columns || 80,
  rows: rows || 24,
})
