import { hash as digest } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { JournalMode } from './cursor-home.ts'

const TABLES = `
create table if not exists blobs (id text primary key, data blob);
create table if not exists meta (key text primary key, value text);
`

/** The state of a thread so far. Blobs are listed by id, in order. */
export interface StatePlan {
  readonly entries: readonly (string | { readonly inline: unknown })[]
  readonly turns?: readonly string[]
  /** The list of turns as older builds wrote it. Newer builds keep it. */
  readonly oldTurns?: readonly string[]
  /** Entries that were replaced by summaries in `entries`. */
  readonly archives?: readonly string[]
  readonly tokens?: { readonly used: number; readonly limit: number; readonly items?: Readonly<Record<string, number>> }
  readonly workspaceUris?: readonly string[]
  readonly startedAtMs?: number
}

/** A chat's store, written like Cursor's command line does: every blob under its hash, and never changed. */
export class CliStore {
  readonly folder: string
  readonly path: string
  readonly db: Database.Database

  /** @param folder the chat's own, below `chats/<hash>` or `acp-sessions` */
  constructor(folder: string, journalMode: JournalMode = 'wal') {
    mkdirSync(folder, { recursive: true })
    this.folder = folder
    this.path = join(folder, 'store.db')
    this.db = new Database(this.path)
    this.db.pragma(`journal_mode = ${journalMode}`)
    this.db.pragma('synchronous = off')
    this.db.exec(TABLES)
  }

  /** Writes bytes unchanged and other values as JSON. @returns the blob's id */
  blob(value: unknown): string {
    const data = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
    const id = digest('sha256', data)
    this.blobAs(id, data)
    return id
  }

  /** Writes a blob under an id that is not its hash. */
  blobAs(id: string, data: Buffer): void {
    this.db.prepare('insert or replace into blobs (id, data) values (?, ?)').run(id, data)
  }

  drop(id: string): void {
    this.db.prepare('delete from blobs where id = ?').run(id)
  }

  /** @param facts content of the store's only row of metadata */
  facts(facts: Readonly<Record<string, unknown>>): void {
    this.fact('0', Buffer.from(JSON.stringify(facts)).toString('hex'))
  }

  fact(key: string, value: string): void {
    this.db.prepare('insert or replace into meta (key, value) values (?, ?)').run(key, value)
  }

  /** Writes the file beside the store. */
  sidecar(content: unknown): void {
    writeFileSync(join(this.folder, 'meta.json'), typeof content === 'string' ? content : JSON.stringify(content))
  }

  close(): void {
    this.db.close()
  }
}

/** The folder of a chat that began in the folder `cwd`. @param home for example `~/.cursor` */
export const cliFolder = (home: string, cwd: string, chatId: string): string =>
  join(home, 'chats', digest('md5', cwd), chatId)

export interface CliChat {
  readonly id: string
  readonly cwd: string
  readonly title: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly model: string
  /** The messages as sent to the model. */
  readonly messages: readonly unknown[]
}

/** Writes a whole chat, like the command line does. @param home for example `~/.cursor` */
export function writeCliChat(home: string, chat: CliChat): void {
  const { id, cwd, title, createdAtMs, updatedAtMs, model } = chat
  const store = new CliStore(cliFolder(home, cwd, id))
  store.db.transaction(() => {
    const entries = chat.messages.map((message) => store.blob(message))
    const root = store.blob(encodeState({ entries, startedAtMs: createdAtMs }))
    const facts = { agentId: id, latestRootBlobId: root, name: 'New Agent', mode: 'default' }
    store.facts({ ...facts, createdAt: createdAtMs, lastUsedModel: model })
  })()
  store.sidecar({ schemaVersion: 1, createdAtMs, updatedAtMs, hasConversation: true, cwd, title })
  store.close()
}

export function encodeState(plan: StatePlan): Buffer {
  const { entries, turns, oldTurns, archives, tokens, workspaceUris, startedAtMs } = plan
  const places = entries.map((entry) =>
    typeof entry === 'string' ? bytesField(1, Buffer.from(entry, 'hex')) : inlineField(entry.inline),
  )
  const ids = (number: number, list: readonly string[] = []): Buffer[] =>
    list.map((id) => bytesField(number, Buffer.from(id, 'hex')))
  const categories = Object.entries(tokens?.items ?? {}).map(([label, count]) =>
    bytesField(
      3,
      Buffer.concat([bytesField(1, Buffer.from('id')), bytesField(2, Buffer.from(label)), numberField(3, count)]),
    ),
  )
  const counts =
    tokens &&
    Buffer.concat([
      numberField(1, tokens.used),
      numberField(2, tokens.limit),
      ...(categories.length === 0 ? [] : [bytesField(3, Buffer.concat(categories))]),
    ])
  return Buffer.concat([
    ...places,
    ...ids(2, oldTurns),
    ...(counts === undefined ? [] : [bytesField(5, counts)]),
    ...ids(8, turns),
    ...(workspaceUris ?? []).map((uri) => bytesField(9, Buffer.from(uri))),
    ...ids(13, archives),
    ...(startedAtMs === undefined ? [] : [numberField(26, startedAtMs)]),
  ])
}

const inlineField = (message: unknown): Buffer => bytesField(1, Buffer.from(JSON.stringify(message)))

/** A length-delimited field of a protobuf message. */
export const bytesField = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])

export const numberField = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)])

/** A varint: seven bits per byte, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) + 0x80)
  return Buffer.from([...bytes, left])
}
