import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Cursor's own schema. It has no primary key, so a rewritten row gets a new rowid. */
const TABLES = `
create table if not exists ItemTable (key text unique on conflict replace, value blob);
create table if not exists cursorDiskKV (key text unique on conflict replace, value blob);
`

export type JournalMode = 'wal' | 'delete'

/** A store, written like Cursor does. */
export class Store {
  readonly path: string
  readonly db: Database.Database

  constructor(path: string, journalMode: JournalMode = 'wal') {
    this.path = path
    this.db = new Database(path)
    this.db.pragma(`journal_mode = ${journalMode}`)
    this.db.pragma('synchronous = off')
    this.db.exec(TABLES)
  }

  /** Objects are written as JSON; text, bytes and null are written unchanged. */
  put(key: string | null, value: unknown): void {
    this.db.prepare('insert into cursorDiskKV (key, value) values (?, ?)').run(key, encode(value))
  }

  item(key: string, value: unknown): void {
    this.db.prepare('insert into ItemTable (key, value) values (?, ?)').run(key, encode(value))
  }

  chat(chatId: string, value: Record<string, unknown> | null): void {
    this.put(`composerData:${chatId}`, value === null ? null : { _v: 3, composerId: chatId, ...value })
  }

  message(chatId: string, messageId: string, value: Record<string, unknown> | null): void {
    this.put(`bubbleId:${chatId}:${messageId}`, value === null ? null : { _v: 2, bubbleId: messageId, ...value })
  }

  delete(key: string): void {
    this.db.prepare('delete from cursorDiskKV where key = ?').run(key)
  }

  /** Writes the row of a key again, as Cursor does with a chat's row after each change of the chat. */
  rewrite(key: string): void {
    this.db.prepare('insert into cursorDiskKV (key, value) select key, value from cursorDiskKV where key = ?').run(key)
  }

  /** Deletes a chat like newer builds of Cursor: its row has no value, and its messages have no rows. */
  deleteChat(chatId: string): void {
    this.db.transaction(() => {
      this.chat(chatId, null)
      this.db.prepare('delete from cursorDiskKV where key glob ?').run(`bubbleId:${chatId}:*`)
    })()
  }

  close(): void {
    this.db.close()
  }
}

function encode(value: unknown): unknown {
  return typeof value === 'string' || value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value)
}

/** Cursor's `User` folder, with a global store and any number of workspaces. */
export class CursorHome {
  readonly root: string
  readonly userDir: string
  readonly #stores: Store[] = []

  /** @param root the folder to create it in; a new temporary one by default */
  constructor(root: string = mkdtempSync(join(tmpdir(), 'cursordex-cursor-'))) {
    this.root = root
    this.userDir = join(root, 'Cursor', 'User')
  }

  get globalPath(): string {
    return join(this.userDir, 'globalStorage', 'state.vscdb')
  }

  global(journalMode: JournalMode = 'wal'): Store {
    mkdirSync(join(this.userDir, 'globalStorage'), { recursive: true })
    return this.#open(this.globalPath, journalMode)
  }

  /** @param root content of `workspace.json`; null for a window without a folder */
  workspace(id: string, root: Record<string, unknown> | null, chatIds: readonly string[] = []): Store {
    const folder = join(this.userDir, 'workspaceStorage', id)
    mkdirSync(folder, { recursive: true })
    if (root !== null) writeFileSync(join(folder, 'workspace.json'), JSON.stringify(root))
    const store = this.#open(join(folder, 'state.vscdb'), 'delete')
    const allComposers = chatIds.map((composerId) => ({ type: 'head', composerId }))
    store.item('composer.composerData', { allComposers })
    return store
  }

  /** Closes every store, as Cursor does when it quits. */
  close(): void {
    for (const store of this.#stores.splice(0)) store.close()
  }

  remove(): void {
    this.close()
    rmSync(this.root, { recursive: true, force: true })
  }

  #open(path: string, journalMode: JournalMode): Store {
    const store = new Store(path, journalMode)
    this.#stores.push(store)
    return store
  }
}

/** The headers of a chat with these messages in this order. The user and the assistant alternate; the user is first. */
export function headers(messageIds: readonly string[]): Record<string, unknown>[] {
  return messageIds.map((bubbleId, index) => ({ bubbleId, type: index % 2 === 0 ? 1 : 2 }))
}
