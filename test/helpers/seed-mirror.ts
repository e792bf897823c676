import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Part } from '../../src/model/part.ts'
import { indexOf } from './index-of.ts'
import { beginEpoch } from '../../src/mirror/index/index-file.ts'
import { openReader, openWriter, type Mirror } from '../../src/mirror/open.ts'
import { sortKeyFloor } from '../../src/mirror/write/messages.ts'

type Values = Readonly<Record<string, string | number | Buffer | null>>

interface SeedChat {
  readonly id: string
  readonly title?: string
  readonly project?: number
  readonly createdAt?: number | null
  readonly messageCount?: number
  /** Any other column of the row, by name. */
  readonly columns?: Values
}

interface SeedMessage {
  readonly id: string
  readonly role?: 'user' | 'assistant'
  readonly position?: number | null
  readonly createdAt?: number | null
  readonly isOrphan?: boolean
  readonly parts?: readonly Part[]
  readonly columns?: Values
}

export interface SeededMirror {
  readonly path: string
  readonly writer: Mirror
  readonly reader: Mirror
  addProject(id: string): number
  addChat(chat: SeedChat): number
  addMessage(chat: number, message: SeedMessage): number
  dispose(): void
}

/** A real mirror in a temporary folder, filled row by row. Values that a test does not set are defaults. */
export function seedMirror(): SeededMirror {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-mirror-'))
  const path = join(folder, 'mirror.db')
  const writer = openWriter(path)
  beginEpoch(writer)
  indexOf(path, (index) => index.catchUp())
  const reader = openReader(path)
  let revision = 0
  let slot = 0

  const insert = (table: string, values: Values): number => {
    const names = Object.keys(values)
    const sql = `insert into ${table} (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`
    return Number(writer.prepare(sql).run(values).lastInsertRowid)
  }
  const store = { kind: 'composer-kv', rank: 0, path: '/cursor/globalStorage/state.vscdb' }
  const source = insert('sources', { id: 'global', state: 'ok', ...store })

  const addChat = (chat: SeedChat): number => {
    revision += 1
    const { id, title = `Chat ${id}`, project = null, createdAt = 1000 } = chat
    return insert('chats', {
      id,
      source,
      format: 'split',
      title,
      title_source: 'cursor',
      project,
      created_at: createdAt,
      last_activity_at: createdAt,
      message_count: chat.messageCount ?? 1,
      revision,
      ...chat.columns,
    })
  }
  const addMessage = (chat: number, message: SeedMessage): number => {
    slot += 1
    const { id, isOrphan = false, createdAt = 1000, position = isOrphan ? null : slot } = message
    const parts = message.parts ?? [{ kind: 'text', text: `Text of ${id}` }]
    const body = insert('bodies', { parts: JSON.stringify(parts) })
    const key = insert('messages', {
      body,
      key: sortKeyFloor(createdAt) + slot,
      chat,
      source,
      id,
      role: message.role ?? 'user',
      position,
      created_at: createdAt,
      created_at_source: createdAt === null ? null : 'message',
      is_orphan: Number(isOrphan),
      is_shadowed: 0,
      is_simulated: 0,
      is_embedded: 0,
      is_live: 1,
      tool_calls: parts.filter((part) => part.kind === 'tool').length,
      octets: 100,
      content_hash: id,
      is_index_capped: 0,
      ...message.columns,
    })
    return key
  }
  return {
    path,
    writer,
    reader,
    addProject: (id) => insert('projects', { id, uri: `file:///home/ada/${id}`, path: `/home/ada/${id}`, name: id }),
    addChat,
    addMessage,
    dispose: () => {
      reader.close()
      writer.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
