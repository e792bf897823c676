import { execFileSync } from 'node:child_process'
import { Chance } from './cursor.ts'
import type { GitRepository } from './git-repository.ts'

const MINUTE_MS = 60_000

/** Writes a history of several authors with merged branches, by one process of `git fast-import`. */
export function importHistory(repository: GitRepository, commits: number, seed: string): void {
  const chance = new Chance(seed)
  const files = Array.from({ length: 150 }, (_, index) => `src/room-${index % 12}/file-${index}.ts`)
  const lines: string[] = []
  let atMs = Date.UTC(2026, 0, 5, 9)
  let main = 0
  let side = 0
  for (let mark = 1; mark <= commits; mark += 1) {
    // Mostly within the next half hours, sometimes the next day.
    atMs += chance.between(1, 6) === 1 ? chance.between(600, 2000) * MINUTE_MS : chance.between(2, 90) * MINUTE_MS
    const isMerge = side > 0 && chance.between(1, 6) === 1
    const isSide = !isMerge && main > 0 && chance.between(1, 4) === 1
    const parents = isMerge ? [main, side] : [isSide && side > 0 ? side : main]
    const rebasedMs = chance.between(1, 10) === 1 ? atMs + chance.between(1, 400) * MINUTE_MS : atMs
    lines.push(
      `commit refs/heads/${isSide ? 'side' : 'main'}`,
      `mark :${mark}`,
      `author Ada <ada@example.org> ${Math.floor(atMs / 1000)} +0100`,
      `committer Ada <ada@example.org> ${Math.floor(rebasedMs / 1000)} +0100`,
      ...dataOf(`Commit ${mark}`),
      ...parents.filter((each) => each > 0).map((each, index) => `${index === 0 ? 'from' : 'merge'} :${each}`),
    )
    const touched = isMerge ? [] : chance.shuffled(files).slice(0, chance.between(1, 7))
    for (const path of touched) lines.push(`M 100644 inline ${path}`, ...dataOf(`${path} as of ${mark}\n`))
    lines.push('')
    if (isSide) side = mark
    else main = mark
    if (isMerge) side = 0
  }
  execFileSync('git', ['-C', repository.root, 'fast-import', '--quiet', '--force'], { input: lines.join('\n') })
}

const dataOf = (text: string): readonly string[] => [`data ${Buffer.byteLength(text)}`, text]
