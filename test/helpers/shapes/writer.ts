import { renameSync, rmSync } from 'node:fs'
import { headers, Store } from '../cursor.ts'

const START_MS = Date.UTC(2025, 10, 3, 8)
export const minute = (count: number): number => START_MS + count * 60_000
export const iso = (count: number): string => new Date(minute(count)).toISOString()

const TABLE = 'cursorDiskKV'
const key = (chatId: string, id: string): string => `bubbleId:${chatId}:${id}`

/** Writes, replaces, moves and deletes rows of a store in every possible way. */
export class Writer {
  #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** A chat that names these messages, each with a text that contains its word. */
  chat(id: string, words: Readonly<Record<string, string>>, createdAtMs: number = minute(0)): void {
    this.list(id, Object.keys(words), createdAtMs)
    for (const [messageId, word] of Object.entries(words)) this.insert(id, messageId, word)
  }

  list(id: string, messageIds: readonly string[], createdAt: number = minute(0)): void {
    const fullConversationHeadersOnly = headers(messageIds)
    this.#store.chat(id, { name: `The chat ${id}`, createdAt, lastUpdatedAt: createdAt, fullConversationHeadersOnly })
  }

  tombstone(id: string): void {
    this.#store.chat(id, null)
  }

  /** Replaces the row with this key, under a new rowid. */
  insert(chatId: string, id: string, word: string): void {
    this.#store.put(key(chatId, id), valueOf(id, word))
  }

  upsert(chatId: string, id: string, word: string): void {
    const sql = `insert into ${TABLE} (key, value) values (?, ?) on conflict (key) do update set value = excluded.value`
    this.#run(sql, key(chatId, id), valueOf(id, word))
  }

  update(chatId: string, id: string, word: string): void {
    this.#run(`update ${TABLE} set value = ? where key = ?`, valueOf(id, word), key(chatId, id))
  }

  delete(chatId: string, id: string): void {
    this.#store.delete(key(chatId, id))
  }

  deleteChat(id: string): void {
    this.#run(
      `delete from ${TABLE} where key = ? or (key > ? and key < ?)`,
      `composerData:${id}`,
      `bubbleId:${id}:`,
      `bubbleId:${id};`,
    )
  }

  rename(fromChat: string, fromId: string, toChat: string, toId: string): void {
    this.#run(
      `update ${TABLE} set key = ?, value = json_set(value, '$.bubbleId', ?) where key = ?`,
      key(toChat, toId),
      toId,
      key(fromChat, fromId),
    )
  }

  rowid(chatId: string, id: string): number {
    return Number(this.#store.db.prepare(`select rowid from ${TABLE} where key = ?`).pluck().get(key(chatId, id)))
  }

  vacuum(): void {
    this.#store.db.exec('vacuum')
  }

  /** Deletes and inserts every row, with the keys in another order. */
  renumber(): void {
    this.atOnce(() => {
      this.#store.db.exec(`
        create temp table kept as select key, value from ${TABLE} order by key desc;
        delete from ${TABLE};
        insert into ${TABLE} (key, value) select key, value from kept;
        drop table kept;
      `)
    })
  }

  dropTable(): void {
    this.#store.db.exec(`drop table ${TABLE}`)
  }

  createTable(): void {
    this.#store.db.exec(`create table ${TABLE} (key text unique on conflict replace, value blob)`)
  }

  /** Like a restored backup: Cursor is closed, and another file replaces the store. */
  replaceFile(fill: (writer: Writer) => void): void {
    const { path } = this.#store
    const other = new Store(`${path}.other`, 'delete')
    fill(new Writer(other))
    other.close()
    this.#store.close()
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
    renameSync(`${path}.other`, path)
    this.#store = new Store(path)
  }

  atOnce(act: () => void): void {
    this.#store.db.transaction(act)()
  }

  close(): void {
    this.#store.close()
  }

  #run(sql: string, ...values: readonly string[]): void {
    this.#store.db.prepare(sql).run(...values)
  }
}

/** Odd messages are the user's. A message's number also decides its time. */
function valueOf(id: string, word: string): string {
  const number = Number(id.replace(/\D/g, ''))
  const type = number % 2 === 1 ? 1 : 2
  return JSON.stringify({ _v: 3, bubbleId: id, type, text: `Here stands ${word}`, createdAt: iso(number) })
}
