import { hash as digest } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import Database from '../sqlite.ts'
import type { JournalMode } from './cursor-home.ts'

const TABLES = `
create table if not exists blobs (id text primary key, data blob);
create table if not exists meta (key text primary key, value text);
`

/** The state of a thread, as far as it is written. Blobs are named by their ids, in their order. */
export interface StatePlan {
  readonly entries: readonly (string | { readonly inline: unknown })[]
  readonly turns?: readonly string[]
  /** The list of turns as older builds wrote it; newer ones keep it. */
  readonly oldTurns?: readonly string[]
  /** What summaries replaced in `entries`. */
  readonly archives?: readonly string[]
  readonly tokens?: { readonly used: number; readonly limit: number }
  readonly workspaceUris?: readonly string[]
  readonly startedAtMs?: number
}

/** A chat's store, written the way Cursor's command line writes it: every blob under its hash, and never again. */
export class CliStore {
  readonly folder: string
  readonly path: string
  readonly db: Sqlite.Database

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

  /** Bytes as they are, all else as JSON. @returns the blob's id */
  blob(value: unknown): string {
    const data = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
    const id = digest('sha256', data)
    this.blobAs(id, data)
    return id
  }

  /** Under an id that is not its hash. */
  blobAs(id: string, data: Buffer): void {
    this.db.prepare('insert or replace into blobs (id, data) values (?, ?)').run(id, data)
  }

  drop(id: string): void {
    this.db.prepare('delete from blobs where id = ?').run(id)
  }

  /** @param facts as the one row of them holds it */
  facts(facts: Readonly<Record<string, unknown>>): void {
    this.fact('0', Buffer.from(JSON.stringify(facts)).toString('hex'))
  }

  fact(key: string, value: string): void {
    this.db.prepare('insert or replace into meta (key, value) values (?, ?)').run(key, value)
  }

  /** What stands beside the store. */
  sidecar(told: unknown): void {
    writeFileSync(join(this.folder, 'meta.json'), typeof told === 'string' ? told : JSON.stringify(told))
  }

  close(): void {
    this.db.close()
  }
}

/** The folder of a chat that was begun in this one. @param home such as `~/.cursor` */
export const cliFolder = (home: string, cwd: string, chatId: string): string =>
  join(home, 'chats', digest('md5', cwd), chatId)

export interface CliChat {
  readonly id: string
  readonly cwd: string
  readonly title: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly model: string
  /** As they were sent to the model. */
  readonly messages: readonly unknown[]
}

/** A whole chat, as the command line leaves it behind. @param home such as `~/.cursor` */
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
  const counts = tokens && Buffer.concat([numberField(1, tokens.used), numberField(2, tokens.limit)])
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

/** A field of a protobuf message that has a length. */
export const bytesField = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])

export const numberField = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)])

/** Seven bits a byte, the least first. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) + 0x80)
  return Buffer.from([...bytes, left])
}
