/** The parts of a dotted key, with or without quotes. */
function keyParts(text: string): readonly string[] {
  const parts: string[] = []
  for (const [, double, single, bare] of text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+)/g))
    parts.push(double ?? single ?? bare ?? '')
  return parts
}

const KEY = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.\s-])+?)\s*=/
const HEADER = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(?:#.*)?$/

const begins = (whole: readonly string[], start: readonly string[]): boolean =>
  start.every((part, i) => whole[i] === part)

/**
 * The line, counted from one, on which a key of a TOML text stands: its own, or that of the nearest thing around it. For messages
 * only; the text was parsed before.
 */
export function lineOf(text: string, keys: readonly string[]): number | undefined {
  let table: readonly string[] = []
  let best: { readonly line: number; readonly depth: number } | undefined
  for (const [i, line] of text.split('\n').entries()) {
    const [, header] = HEADER.exec(line) ?? []
    const [, key] = KEY.exec(line) ?? []
    if (header !== undefined) table = keyParts(header)
    else if (key === undefined) continue
    const path = header !== undefined ? table : [...table, ...keyParts(key ?? '')]
    const depth = Math.min(path.length, keys.length)
    const isAround = begins(keys, path) || begins(path, keys)
    if (isAround && depth > (best?.depth ?? 0)) best = { line: i + 1, depth }
  }
  return best?.line
}
