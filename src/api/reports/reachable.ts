import type { Repository } from '../../model/commit.ts'
import type { CommitsBySha } from './commit-windows.ts'

/** Whether a commit is on a branch; null where the branch is gone, or its history was not read as far. */
export type IsOnBranch = (branch: string, sha: string) => boolean | null

/** Asks the commits that were read, each branch once. */
export function branchReader({ branches }: Repository, bySha: CommitsBySha): IsOnBranch {
  const known = new Map<string, ReadonlySet<string> | null>()
  const reach = (branch: string): ReadonlySet<string> | null => {
    const tip = branches.get(branch)
    if (tip === undefined || !bySha.has(tip)) return null
    const reached = new Set([tip])
    for (const sha of reached) {
      for (const parent of bySha.get(sha)?.parents ?? []) if (bySha.has(parent)) reached.add(parent)
    }
    return reached
  }
  return (branch, sha) => {
    const reached = known.get(branch) ?? reach(branch)
    known.set(branch, reached)
    return reached?.has(sha) ?? null
  }
}
