import { randomUUID } from 'node:crypto'
import Database from '../src/sqlite.ts'
import { preciseNow, type LiveText } from './live-writer.ts'

const CHAT_ID = 'bench-live'
const DROP = `
delete from cursorDiskKV
where key = 'composerData:${CHAT_ID}' or (key >= 'bubbleId:${CHAT_ID}:' and key < 'bubbleId:${CHAT_ID};')
`

const [path, before = '0'] = process.argv.slice(2)
if (path === undefined) throw new Error('this file runs as a child of the bench')
const db = new Database(path, { timeout: 5000 })
db.pragma('synchronous = normal')
// A killed run did not delete its rows.
db.exec(DROP)
const insert = db.prepare('insert into cursorDiskKV (key, value) values (?, ?)')
const headers: { readonly bubbleId: string; readonly type: number }[] = []

let last = { bubbleId: '', createdAt: '' }

function put(text: string): void {
  insert.run(`bubbleId:${CHAT_ID}:${last.bubbleId}`, JSON.stringify({ _v: 3, type: 2, ...last, text }))
}

function add(text: string): void {
  last = { bubbleId: randomUUID(), createdAt: new Date().toISOString() }
  headers.push({ bubbleId: last.bubbleId, type: 2 })
  put(text)
}

const commit = db.transaction((texts: readonly string[]) => {
  for (const text of texts) add(text)
  const chat = { _v: 10, composerId: CHAT_ID, name: 'A live chat', fullConversationHeadersOnly: headers }
  insert.run(`composerData:${CHAT_ID}`, JSON.stringify(chat))
})

// The messages that the chat already has.
if (before !== '0') commit.immediate(Array.from({ length: Number(before) }, (_, index) => `Earlier message ${index}.`))

process.on('message', ({ text, isRewrite }: LiveText) => {
  if (isRewrite) put(text)
  else commit.immediate([text])
  process.send?.(preciseNow())
})
process.on('disconnect', () => {
  db.exec(DROP)
  db.close()
  process.exit(0)
})
process.send?.('open')
