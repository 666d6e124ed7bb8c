/** How many letters must be changed, added, left out or exchanged. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isExchange) next[j] = Math.min(next[j] ?? 0, (before[j - 2] ?? 0) + 1)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

/** The known word that was most likely meant, if one is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({
      candidate,
      far: candidate.startsWith(word) && word.length > 1 ? 0 : distance(word, candidate),
    }))
    .sort((a, b) => a.far - b.far)
  const [best] = ranked
  return best && best.far <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : undefined
}
