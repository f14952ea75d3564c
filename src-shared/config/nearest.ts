/**
 * The candidate that was most likely meant: the one with the fewest edits (insert, delete, replace, swap of
 * neighbours; case does not count), if those are at most a third of the word. For "did you mean" hints.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase(), least)
    if (edits < least) {
      best = candidate
      least = edits
    }
  }
  return best
}

/** Optimal string alignment distance; `bound` or more is not told apart. */
function editDistance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let edits = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, at(beforeLast, j - 2) + 1)
      }
      row.push(edits)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
