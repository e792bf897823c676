import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { objectPath, runPath, type ArchivedChat, type ArchivedMessage } from '../../src/archive/archived-chat.ts'
import { hash } from 'node:crypto'

/** Stores a file under the hash of its bytes, like a deliberate forgery. */
function plant(dir: string, bytes: Buffer): string {
  const name = hash('sha256', bytes)
  mkdirSync(dirname(join(dir, objectPath(name))), { recursive: true })
  writeFileSync(join(dir, objectPath(name)), bytes)
  return name
}

export const RUN = '20260101T000000Z-manual'

/** A minimal chat of an archive. Values that a test does not set are defaults. */
export function archivedChat(id: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const plain: Omit<ArchivedChat, 'messageCount'> = {
    format: 'cursordex-chat',
    version: 1,
    id,
    title: `Chat ${id}`,
    origin: 'a'.repeat(32),
    source: 'store',
    storeFormat: 'split',
    name: `Chat ${id}`,
    summary: null,
    todos: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    mode: null,
    branch: null,
    model: null,
    status: null,
    isArchived: false,
    isDraft: false,
    isSubagent: false,
    deletedAt: null,
    parentChatId: null,
    childChatIds: [],
    linesAdded: null,
    linesRemoved: null,
    filesChanged: null,
    contextTokens: null,
    recordedCostCents: null,
    octets: 10,
    evidence: [],
    paths: [],
    outline: null,
  }
  return { ...plain, ...more }
}

export function archivedMessage(id: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const plain: ArchivedMessage = {
    id,
    alias: null,
    position: 0,
    role: 'user',
    sentAt: '2026-01-01T00:00:00.000Z',
    startedAt: null,
    timingAt: null,
    model: null,
    tokens: null,
    isSimulated: false,
    isOrphan: false,
    deletedAt: null,
    source: 'store',
    octets: 10,
    parts: [{ kind: 'text', text: `Said in ${id}` }],
  }
  return { ...plain, ...more }
}

/** The lines of a chat. */
export const linesOf = (chat: Record<string, unknown>, messages: readonly Record<string, unknown>[]): string[] =>
  [{ messageCount: messages.length, ...chat }, ...messages].map((each) => JSON.stringify(each))

/** A chat in a manifest of version 1. */
export interface PlantedChat {
  readonly id: string
  readonly object: string
  readonly content: string
  readonly bytes: number
  readonly revision: number
  readonly messages: readonly string[]
}

/** Packs any lines and stores the object. @returns the entry of a correct manifest */
export function plantChat(dir: string, id: string, lines: readonly string[]): PlantedChat {
  const text = lines.map((line) => `${line}\n`).join('')
  const packed = gzipSync(text)
  const object = plant(dir, packed)
  const messages = lines.slice(1).map((line) => hash('sha256', line))
  return { id, object, content: hash('sha256', text), bytes: packed.length, revision: 1, messages }
}

/** Writes the manifest of a run with any content, as commit c8710a50 wrote it. */
export function plantRun(
  dir: string,
  chats: readonly PlantedChat[],
  more: Readonly<Record<string, unknown>> = {},
): void {
  const head = {
    format: 'cursordex-archive',
    version: 1,
    name: RUN,
    createdAt: '2026-01-01T00:00:00.000Z',
    provenAt: '2026-01-01T00:00:00.000Z',
    job: null,
    scope: null,
    program: { name: 'cursordex', version: '1', schema: 1 },
    origin: 'a'.repeat(32),
    chatCount: chats.length,
    messageCount: chats.reduce((sum, { messages }) => sum + messages.length, 0),
    bytes: 0,
    ...more,
  }
  const path = join(dir, runPath(RUN))
  const text = `${JSON.stringify({ ...head, chats }).slice(0, -1)},\n`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${text}"sha256": "${hash('sha256', text)}"\n}\n`)
}
