import type { ChatId } from './ids.ts'

/** One commit, as git reports it. Times are epoch milliseconds; null if they are not valid. */
export interface Commit {
  /** All digits, in lower case. */
  readonly sha: string
  /** The first parent; null for a root commit. */
  readonly parent: string | null
  /** When the change was first committed. A rebase gives last week's work the committer date of today. */
  readonly madeAtMs: number | null
  /** When this commit object was created. */
  readonly committedAtMs: number | null
  /** The first paragraph of its message on one line, at most 300 characters. */
  readonly subject: string
}

/** Reads the histories of repositories. @throws UserError if a history cannot be read, with the reason */
export interface Histories {
  /**
   * The commits of all local branches, newest first; of a longer history only the newest 50,000.
   * @param folder a project's folder on this machine
   */
  read(folder: string): Promise<readonly Commit[]>
  /** The sha of what git names so, such as `HEAD~2` or a branch. Null if git knows no such commit. */
  resolve(folder: string, name: string): Promise<string | null>
  /** By sha, the files in the folder that each commit touched, relative to it. A renamed file has both names. */
  touched(folder: string, commits: readonly Commit[]): Promise<ReadonlyMap<string, readonly string[]>>
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
