import type { ChatId } from './ids.ts'

/** One commit, as git reports it. */
export interface Commit {
  /** All digits, in lower case. */
  readonly sha: string
  readonly parents: readonly string[]
  /** When the change was first committed; amend and rebase keep it. Epoch milliseconds; null if it is not a valid time. */
  readonly authoredAtMs: number | null
  /** When this commit object was created. Epoch milliseconds; null if it is not a valid time. */
  readonly committedAtMs: number | null
  readonly author: string
  /** The first paragraph of its message on one line, at most 300 characters. */
  readonly subject: string
}

/** A file that a commit changed. Paths are relative to the top of the repository, with slashes. */
export interface TouchedFile {
  readonly path: string
  /** Its path before this commit; null if it was not renamed. */
  readonly formerPath: string | null
}

export interface TouchedFiles {
  /** Only the first few thousand. */
  readonly files: readonly TouchedFile[]
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
  /** The checked-out commit; null before the first commit. */
  readonly head: string | null
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
