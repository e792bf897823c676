import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../sqlite.ts'
import type { Change, PackedHome, PackedStore, PackedCommit } from './packed.ts'
import { execFileSync } from 'node:child_process'
import { devNull } from 'node:os'

/** Cursor's own schema. It has no primary key, so a rewritten row gets a new rowid. */
const TABLES = `
create table if not exists ItemTable (key text unique on conflict replace, value blob);
create table if not exists cursorDiskKV (key text unique on conflict replace, value blob);
`

/** The `User` folder of the demo's Cursor, as Cursor lays it out. @param folder of the demo */
export const userFolder = (folder: string): string => join(folder, 'Cursor', 'User')

/** The store with all chats, below the `User` folder. */
export const GLOBAL_STORE = join('globalStorage', 'state.vscdb')

/** A store of the demo's Cursor, written like Cursor does. */
export class DemoStore {
  readonly #db: Sqlite.Database

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.#db = new Database(path)
    this.#db.pragma('journal_mode = wal')
    this.#db.pragma('synchronous = off')
    this.#db.exec(TABLES)
  }

  write(rows: readonly Change[], table: PackedStore['table'] = 'cursorDiskKV'): void {
    const put = this.#db.prepare(`insert into ${table} (key, value) values (?, ?)`)
    const remove = this.#db.prepare(`delete from ${table} where key = ?`)
    this.#db.transaction(() => {
      for (const [key, value] of rows) {
        if (value === undefined) remove.run(key)
        else put.run(key, value)
      }
    })()
  }

  close(): void {
    this.#db.close()
  }
}

/** Writes the packed Cursor into a folder, in the state in which Cursor leaves it when it quits. */
export function writeHome(folder: string, { files, stores }: PackedHome): void {
  for (const { path, table, rows } of stores) {
    const store = new DemoStore(join(userFolder(folder), path))
    store.write(rows, table)
    store.close()
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(userFolder(folder), path), text)
}

/** Makes a real repository with these commits. Without git the demo has no commits. @param env of this process */
export function makeRepository(
  root: string,
  commits: readonly PackedCommit[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const git = (words: readonly string[], input = ''): void => {
    const own = { ...env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
    execFileSync('git', ['-C', root, ...words], { input, stdio: ['pipe', 'ignore', 'ignore'], env: own })
  }
  mkdirSync(root)
  try {
    git(['init', '--quiet'])
    git(['symbolic-ref', 'HEAD', 'refs/heads/main'])
    git(['fast-import', '--quiet'], commits.map(commitText).join(''))
    git(['reset', '--quiet', '--hard'])
  } catch {
    // Git is not installed, or it refused.
  }
}

/** A commit in the language of `git fast-import`, in which each commit of a branch follows the one before. */
function commitText({ atMs, subject, path, text }: PackedCommit): string {
  const committer = `committer Ada <ada@example.org> ${Math.floor(atMs / 1000)} +0000`
  return `commit refs/heads/main\n${committer}\n${data(subject)}M 100644 inline ${path}\n${data(text)}`
}

const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
