import { type Chance, type CursorHome, headers, type Store } from '../../../helpers/cursor.ts'
import { makeHeaderTable } from '../../../helpers/eras/global-items.ts'
import { line, lines, said, writeTranscript } from '../../../helpers/eras/transcripts.ts'
import { asBase64, keepBlob, stateOf } from '../../../helpers/blob-store.ts'
import { graft } from './graft.ts'
import { cellOf, damaged, hostileJson, sha256, type Cell } from './hostile-value.ts'
import type { SampleList, Samples } from './samples.ts'

/** What was written: how many hostile rows, and what must be read all the same. */
export interface Written {
  rows: number
  /** Texts of the neighbouring messages. */
  readonly neighbours: string[]
}

export const ROWS_A_HOME = 500

/** Fills a home with rows of every kind that is read. Most have something unexpected in them. */
export function writeHostile(home: CursorHome, cursor: string, samples: Samples, chance: Chance): Written {
  const written: Written = { rows: 0, neighbours: [] }
  const store = home.global()
  const pen = new Pen(written, chance)
  store.db.transaction(() => {
    for (let at = 0; at < 6; at += 1) writeMessages(pen, store, samples.messages, `talk-${at}`, 55)
    for (let at = 0; at < 45; at += 1) writeChatRow(pen, store, samples.chats, `chat-${at}`)
    for (let at = 0; at < 6; at += 1) writeBlobs(pen, store, samples.modelMessages, `model-${at}`, 5)
    for (let at = 0; at < 10; at += 1) writeState(pen, store, `state-${at}`)
    for (let at = 0; at < 20; at += 1) writeContent(pen, store, `pasted-${at % 2}`, `m${at}`)
    writeLists(pen, store, samples, 20)
  })()
  for (let at = 0; at < 3; at += 1) writeWorkspace(pen, home, samples.workspaceItems, `ws${at}`)
  for (let at = written.rows; at < ROWS_A_HOME; at += 1) writeTranscriptFile(pen, cursor, samples, `script-${at}`)
  return written
}

class Pen {
  readonly written: Written
  readonly chance: Chance

  constructor(written: Written, chance: Chance) {
    this.written = written
    this.chance = chance
  }

  /** A sample with another value at one place. */
  hostile(samples: SampleList): { readonly key: string; readonly cell: Cell } {
    const { key, value, places } = this.chance.pick(samples)
    const [first, ...rest] = places
    const path = first === undefined ? [] : this.chance.pick([first, ...rest])
    // One of thirty values is replaced as a whole.
    const json = graft(value, this.chance.between(1, 30) === 1 ? [] : path, hostileJson(this.chance))
    this.written.rows += 1
    return { key, cell: cellOf(json, this.chance) }
  }

  neighbour(): string {
    const text = `Sound neighbour ${this.written.neighbours.length}`
    this.written.neighbours.push(text)
    return text
  }

  put(store: Store, table: 'cursorDiskKV' | 'ItemTable', key: string, { form, value }: Cell): void {
    const cast = form === 'text' ? 'cast(? as text)' : '?'
    store.db.prepare(`insert or replace into ${table} (key, value) values (?, ${cast})`).run(key, value)
  }
}

function writeMessages(pen: Pen, store: Store, samples: SampleList, chatId: string, count: number): void {
  const ids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const id = `m${at}`
    pen.put(store, 'cursorDiskKV', `bubbleId:${chatId}:${id}`, pen.hostile(samples).cell)
    ids.push(id)
    if (at % 5 !== 0) continue
    store.message(chatId, `sound-${at}`, { type: 1, text: pen.neighbour() })
    ids.push(`sound-${at}`)
  }
  // A message that no list names is an orphan.
  const listed = ids.filter((id) => id.startsWith('sound') || pen.chance.between(1, 5) > 1)
  store.chat(chatId, { fullConversationHeadersOnly: headers(listed) })
}

function writeChatRow(pen: Pen, store: Store, samples: SampleList, chatId: string): void {
  pen.put(store, 'cursorDiskKV', `composerData:${chatId}`, pen.hostile(samples).cell)
  // Named by the lists of many samples, so that hostile lists have something to name.
  store.message(chatId, pen.chance.pick(['m1', 'm2', 'x', 'none']), { type: 1, text: pen.neighbour() })
}

/** A chat without messages, known from the model's input. */
function writeBlobs(pen: Pen, store: Store, samples: SampleList, chatId: string, count: number): void {
  const ids = [keepBlob(store, { role: 'user', content: pen.neighbour() })]
  for (let at = 0; at < count; at += 1) {
    const { cell } = pen.hostile(samples)
    const bytes = Buffer.isBuffer(cell.value) ? cell.value : Buffer.from(String(cell.value))
    const id = sha256(bytes)
    pen.put(store, 'cursorDiskKV', `agentKv:blob:${id}`, cell)
    ids.push(id)
  }
  const state = stateOf(ids)
  store.chat(chatId, {
    name: chatId,
    fullConversationHeadersOnly: headers(['gone']),
    conversationState: asBase64(state),
  })
}

/** A state that is cut off, names itself, or is not a state. */
function writeState(pen: Pen, store: Store, chatId: string): void {
  pen.written.rows += 1
  const blob = keepBlob(store, { role: 'assistant', content: [{ type: 'text', text: `Told by ${chatId}` }] })
  const tree = keepBlob(store, stateOf([blob], 2))
  const root = pen.chance.pick([stateOf([blob, tree, tree]), stateOf([tree], 2), stateOf([blob], 8), stateOf([])])
  const state = damaged(root, pen.chance)
  const conversationState = pen.chance.pick([asBase64(state), `~${state.toString('hex')}`, state.toString('latin1')])
  if (pen.chance.between(1, 2) === 1) store.put(`agentKv:checkpoint:${chatId}`, damaged(Buffer.from(tree), pen.chance))
  store.chat(chatId, { name: chatId, fullConversationHeadersOnly: headers(['gone']), conversationState })
}

/** A message that names a text, and that text. */
function writeContent(pen: Pen, store: Store, chatId: string, id: string): void {
  pen.written.rows += 1
  const cell = cellOf(hostileJson(pen.chance), pen.chance)
  const name = `composer.content.${sha256(Buffer.from(`${chatId} ${id} ${String(cell.value)}`))}`
  pen.put(store, 'cursorDiskKV', name, cell)
  const context = { pasted: [{ fileName: 'notes.txt', contentId: name }] }
  store.message(chatId, id, { type: 1, text: pen.neighbour(), context })
}

function writeLists(pen: Pen, store: Store, samples: Samples, heads: number): void {
  const [first, ...rest] = samples.globalItems
  for (const sample of [first, ...rest]) {
    const { key, cell } = pen.hostile([sample])
    pen.put(store, 'ItemTable', key, cell)
  }
  makeHeaderTable(store.db, pen.chance.pick(['3.9', '3.19']))
  const insert = store.db.prepare(
    `insert or replace into composerHeaders (composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent,
      recency, value) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const column = (): Cell['value'] => cellOf(hostileJson(pen.chance), pen.chance).value
  for (let at = 0; at < heads; at += 1) {
    const id = pen.chance.pick([`chat-${at}`, `chat-${at}`, `talk-${at}`, column()])
    insert.run(id, column(), column(), column(), column(), column(), column(), pen.hostile(samples.heads).cell.value)
  }
}

function writeWorkspace(pen: Pen, home: CursorHome, samples: SampleList, id: string): void {
  const root = pen.chance.pick(['file:///w/shop', 'file:///%', 'vscode-remote://x', '', 'a\u0000b', 'c:\\w'])
  const store = home.workspace(id, { [pen.chance.pick(['folder', 'workspace', 'else'])]: root })
  store.db.exec('delete from ItemTable')
  for (const { key } of distinctKeys(samples)) {
    const [first, ...rest] = samples.filter((sample) => sample.key === key)
    if (first === undefined) continue
    const { cell } = pen.hostile([first, ...rest])
    pen.put(store, 'ItemTable', key, cell)
  }
  const bubbles = [{ id: 'm', type: 'user', text: pen.neighbour() }]
  store.item('workbench.panel.chat.view.chat.chatdata', { tabs: [{ tabId: `sound-${id}`, bubbles }] })
}

const distinctKeys = (samples: SampleList): readonly { readonly key: string }[] => {
  const keys = new Set(samples.map(({ key }) => key))
  // Other keys of that table are not read.
  return [...keys]
    .filter((key) => /^(workbench|composer|aiService)/.test(key) && !key.endsWith('.hidden'))
    .map((key) => ({ key }))
}

/** A line between two valid ones, or a file that was cut off. */
function writeTranscriptFile(pen: Pen, cursor: string, samples: Samples, id: string): void {
  const file = pen.chance.pick([`${id}.jsonl`, `${id}.json`, `${id}.txt`, `${id}/${id}.jsonl`])
  const [first = '', ...rest] = samples.transcriptTexts
  const isWhole = pen.chance.between(1, 8) === 1
  const content = isWhole ? damaged(Buffer.from(pen.chance.pick([first, ...rest])), pen.chance) : between(pen, samples)
  if (isWhole) pen.written.rows += 1
  writeTranscript(cursor, pen.chance.pick(['w-shop', 'empty-window', 'c-%-x']), file, content)
}

function between(pen: Pen, samples: Samples): Buffer {
  const { value } = pen.hostile(samples.lines).cell
  const hostile = Buffer.isBuffer(value) ? value : Buffer.from(String(value))
  const [before, after] = [pen.neighbour(), pen.neighbour()].map((text) => lines(line('user', said(text))))
  return Buffer.concat([Buffer.from(before ?? ''), hostile, Buffer.from(`\n${after ?? ''}`)])
}
