import type { Commit, CommitList, Repository, TouchedFiles } from '../../model/commit.ts'

/** Who can read the history of a repository. What cannot be read is a UserError that says why. */
export interface Histories {
  /** @param root folder of a project on this machine */
  open(root: string): Promise<Repository>
  /** @param stretch `sinceMs`: nothing older; `alsoFrom`: a commit to begin at where no branch leads to it */
  list(
    repository: Repository,
    stretch: { readonly sinceMs: number | null; readonly alsoFrom: string | null },
  ): Promise<CommitList>
  /** @param digits first hex digits of a sha, lower case. @returns null where none or several begin so */
  find(repository: Repository, digits: string): Promise<Commit | null>
  /** Files by commit; a commit of which they are not known is left out. */
  touched(repository: Repository, shas: readonly string[]): Promise<ReadonlyMap<string, TouchedFiles>>
}
