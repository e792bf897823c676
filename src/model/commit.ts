import type { ChatId } from './ids.ts'

/** One commit of a repository, as git tells it. */
export interface Commit {
  /** Whole, lower case. */
  readonly sha: string
  readonly parents: readonly string[]
  /** When the change was first committed; amending and rebasing leave it. Epoch milliseconds, null where it is no time. */
  readonly authoredAtMs: number | null
  /** When this commit was made of it. Epoch milliseconds, null where it is no time. */
  readonly committedAtMs: number | null
  readonly author: string
  /** The first paragraph of its message, on one line, at most 300 signs of it. */
  readonly subject: string
}

/** A file that a commit changed; paths are from the top of the repository, with slashes. */
export interface TouchedFile {
  readonly path: string
  /** What it was called before this commit; null where it kept its name. */
  readonly formerPath: string | null
}

export interface TouchedFiles {
  /** The first some thousands. */
  readonly files: readonly TouchedFile[]
  /** How many there are in all. */
  readonly count: number
}

/** The repository in which a folder lies. */
export interface Repository {
  /** The folder that was asked about. */
  readonly root: string
  /** The repository's own folder, as git spells it: links resolved, slashes. */
  readonly topLevel: string
  /** The way from there to `root`: empty, or `packages/app/`. */
  readonly prefix: string
  /** Commit that is checked out; null before the first. */
  readonly head: string | null
  /** Local branches by name, and the commit of each. */
  readonly branches: ReadonlyMap<string, string>
}

export interface CommitList {
  /** Newest first. */
  readonly commits: readonly Commit[]
  /** Those that changed something below the repository's `prefix`; null where that is all. */
  readonly within: ReadonlySet<string> | null
  /** False where there are more than were read. */
  readonly isWhole: boolean
}

/** What Cursor recorded of a chat's code between two moments of one hour. It adds to a chat, and never makes one. */
export interface TrackedWrite {
  readonly chatId: ChatId
  /** Epoch milliseconds, both in the same hour. */
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** By model, when it was last used; epoch milliseconds. */
  readonly models: ReadonlyMap<string, number>
}

/** A commit in which Cursor looked for code of its own. */
export interface ScoredCommit {
  readonly sha: string
  /** Lines of chats that it found, added and removed; null where it does not say. */
  readonly chatLines: number | null
}
