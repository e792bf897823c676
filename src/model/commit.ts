import type { ChatId } from './ids.ts'

/** One commit, as git reports it. Times are epoch milliseconds; null if they are not valid. */
export interface Commit {
  /** All digits, in lower case. */
  readonly sha: string
  readonly parents: readonly string[]
  /** When the change was first committed; amend and rebase keep it. */
  readonly authoredAtMs: number | null
  /** When this commit object was created. */
  readonly committedAtMs: number | null
  readonly author: string
  /** The first paragraph of its message on one line, at most 300 characters. */
  readonly subject: string
  /** Whether a shallow clone ends here: its parents, and so its changes, are unknown. */
  readonly isCutOff: boolean
}

export interface TouchedFiles {
  /** Old and new names of the first few thousand files, relative to the top of the repository, with slashes. */
  readonly names: ReadonlySet<string>
  /** Number of all touched files. */
  readonly count: number
}

/** The repository that contains a folder. */
export interface Repository {
  /** The requested folder. */
  readonly root: string
  /** The repository's top folder as git reports it: links resolved, with slashes. */
  readonly topLevel: string
  /** Path from there to `root`: empty, or for example `packages/app/`. */
  readonly prefix: string
  /** The commit of each local branch, by name. */
  readonly branches: ReadonlyMap<string, string>
}

export interface CommitList {
  /** Newest first. */
  readonly commits: readonly Commit[]
  /** Commits that changed something below the repository's `prefix`; null if the prefix is empty. */
  readonly within: ReadonlySet<string> | null
  /** False if there are more commits than were read. */
  readonly isWhole: boolean
}

/** Reads the histories of repositories. @throws UserError if a history cannot be read, with the reason */
export interface Histories {
  /** @param root a project's folder on this machine */
  open(root: string): Promise<Repository>
  /** The commits of all local branches, and those before `alsoFrom`, which may be on no branch; none before `sinceMs`. */
  list(
    repository: Repository,
    period: { readonly sinceMs: number; readonly alsoFrom: string | null },
  ): Promise<CommitList>
  /** @param digits first hex digits of a sha, in lower case. @returns null if none or several commits begin with them */
  find(repository: Repository, digits: string): Promise<Commit | null>
  /** Files by sha. Commits with unknown files are left out. */
  touched(repository: Repository, commits: readonly Commit[]): Promise<ReadonlyMap<string, TouchedFiles>>
}

/** Cursor's record of a chat's generated code within one hour. It completes a chat and never creates one. */
export interface TrackedWrite {
  readonly chatId: ChatId
  /** Epoch milliseconds, both in the same hour. */
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** Last use of each model, in epoch milliseconds. */
  readonly models: ReadonlyMap<string, number>
}

/** A commit that Cursor searched for its own code. */
export interface ScoredCommit {
  readonly sha: string
  /** Added and removed lines that come from chats; null if Cursor does not report it. */
  readonly chatLines: number | null
}

/** How probable it is that a chat led to a commit, the least first. */
export const confidences = ['low', 'medium', 'high'] as const
