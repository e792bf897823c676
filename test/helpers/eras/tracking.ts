import { mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { GitRepository } from '../git-repository.ts'
import { line, lines, query, said, trust, writeTranscript } from './transcripts.ts'

/** A word in every table and column of the tracking database that must not be read. */
export const trackingCanary = 'canary-9d1f-tracked-code'

/** The chat in the home of all eras that has only a transcript. */
export const trackedChat = {
  id: 'era-window',
  firstAtMs: Date.UTC(2026, 4, 30, 8, 15),
  lastAtMs: Date.UTC(2026, 4, 30, 10, 45),
  models: ['kiln-2', 'kiln-1'],
} as const

/** A chat in a repository with one commit that Cursor scored. */
export const committedChat = {
  id: 'era-committed',
  subject: 'Stack the kiln',
  atMs: Date.UTC(2026, 4, 30, 12),
  /** When Cursor last recorded code of the chat. */
  trackedAtMs: Date.UTC(2026, 4, 30, 11, 50),
} as const

const TABLES = `
create table ai_code_hashes (
  hash text primary key, source text not null, fileExtension text, fileName text, requestId text, conversationId text,
  timestamp integer, createdAt integer not null, model text
);
create table scored_commits (
  commitHash text not null, branchName text not null, scoredAt integer not null, linesAdded integer,
  tabLinesAdded integer, composerLinesAdded integer, composerLinesDeleted integer, commitMessage text, commitDate text,
  primary key (commitHash, branchName)
);
create table conversation_summaries (
  conversationId text primary key, title text, tldr text, overview text, summaryBullets text, model text, mode text,
  updatedAt integer not null
);
create table tracking_state (key text primary key, value text not null);
create table ai_deleted_files (gitPath text, composerId text, conversationId text, model text, deletedAt integer);
create table tracked_file_content (gitPath text primary key, content text not null, conversationId text, model text);
`

export interface Recorded {
  readonly conversationId: unknown
  readonly timestamp?: unknown
  readonly createdAt?: unknown
  readonly model?: unknown
  readonly source?: unknown
}

/** A tracking database, written like Cursor does, with a rollback journal. */
export class TrackingStore {
  readonly path: string
  readonly db: Database.Database
  #count = 0

  /** @param home one of Cursor's home folders */
  constructor(home: string, tables = TABLES) {
    const folder = join(home, 'ai-tracking')
    mkdirSync(folder, { recursive: true })
    this.path = join(folder, 'ai-code-tracking.db')
    this.db = new Database(this.path)
    this.db.pragma('journal_mode = delete')
    this.db.pragma('synchronous = off')
    this.db.exec(tables)
  }

  record({ conversationId, timestamp = null, createdAt = 0, model = null, source = 'composer' }: Recorded): void {
    this.#count += 1
    this.db
      .prepare(
        `insert into ai_code_hashes (hash, source, fileExtension, fileName, requestId, conversationId, timestamp, createdAt, model)
         values (?, ?, 'ts', ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        `${trackingCanary}-${this.#count}`,
        source,
        `/yard/${trackingCanary}.ts`,
        'r1',
        conversationId,
        timestamp,
        createdAt,
        model,
      )
  }

  score(sha: unknown, composerLinesAdded: unknown, branch = 'main'): void {
    this.db
      .prepare(
        `insert or replace into scored_commits
           (commitHash, branchName, scoredAt, linesAdded, composerLinesAdded, composerLinesDeleted, commitMessage)
         values (?, ?, 1, 9, ?, null, ?)`,
      )
      .run(sha, branch, composerLinesAdded, trackingCanary)
  }

  /** Fills the tables and columns that must not be read. */
  hide(conversationId: string): void {
    const hidden = trackingCanary
    this.db
      .prepare(`insert into conversation_summaries values (?, ?, ?, ?, ?, ?, 'agent', 1)`)
      .run(conversationId, hidden, hidden, hidden, hidden, hidden)
    this.db.prepare(`insert into tracking_state values ('k', ?)`).run(hidden)
    this.db.prepare(`insert into ai_deleted_files values (?, 'c', ?, ?, 1)`).run(hidden, conversationId, hidden)
    this.db.prepare(`insert into tracked_file_content values (?, ?, ?, ?)`).run('a', hidden, conversationId, hidden)
  }

  close(): void {
    this.db.close()
  }
}

/**
 * Records a model and times for chats that have neither, and scores a commit of a repository beside the home. Code of
 * people and of completions in that commit does not count.
 */
export function writeTrackingEra(home: string): void {
  const store = new TrackingStore(home)
  const { id, firstAtMs, lastAtMs, models } = trackedChat
  store.record({ conversationId: id, timestamp: firstAtMs, model: models[1] })
  store.record({ conversationId: id, timestamp: lastAtMs - 60_000, model: models[0] })
  store.record({ conversationId: id, timestamp: lastAtMs, model: 'default' })
  store.record({ conversationId: id, timestamp: lastAtMs + 86_400_000, model: 'typed', source: 'human' })
  store.record({ conversationId: null, timestamp: lastAtMs, model: 'completed', source: 'tab' })
  store.record({ conversationId: 'known-nowhere', timestamp: lastAtMs, model: 'kiln-3' })
  store.score('ab'.repeat(20), 12)
  store.record({ conversationId: committedChat.id, timestamp: committedChat.trackedAtMs })
  store.score(writeCommit(home), 12)
  store.hide(id)
  store.close()
}

/** @returns the commit's sha */
function writeCommit(home: string): string {
  const { id, subject, atMs } = committedChat
  const repository = new GitRepository(join(realpathSync(dirname(home)), 'repository'))
  trust(home, 'repository', repository.root)
  writeTranscript(home, 'repository', `${id}.jsonl`, lines(line('user', said(query('How is the kiln stacked?')))))
  return repository.commit({ atMs, subject, files: { 'plan.md': 'Large pots first.' } })
}
