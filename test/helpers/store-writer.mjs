// Plays Cursor in a process of its own: writes messages to a store, each in a commit with its chat's row, then quits.
// Prints one line of JSON: how many commits it made, which failed and why, and how long the WAL got.
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'

const { path, journalMode, session, commits, textLength, pauseMs, longPauseMs, timeoutMs } = JSON.parse(
  process.argv[2] ?? '{}',
)
const errors = []
let walBytesMax = 0

const db = new Database(path, { timeout: timeoutMs })
db.pragma(`journal_mode = ${journalMode}`)
db.pragma('synchronous = normal')
db.exec(`create table if not exists ItemTable (key text unique on conflict replace, value blob);
  create table if not exists cursorDiskKV (key text unique on conflict replace, value blob);`)
const insert = db.prepare('insert into cursorDiskKV (key, value) values (?, ?)')
const chatId = `session-${session}`
const headers = []

const commit = db.transaction((index) => {
  const bubbleId = `s${session}-${index}`
  const text = `session${session}x${index} `.padEnd(textLength, 'words of a message ')
  headers.push({ bubbleId, type: index % 2 === 0 ? 1 : 2 })
  insert.run(`bubbleId:${chatId}:${bubbleId}`, JSON.stringify({ _v: 2, bubbleId, type: 1 + (index % 2), text }))
  const chat = { _v: 3, composerId: chatId, name: `Session ${session}`, fullConversationHeadersOnly: headers }
  insert.run(`composerData:${chatId}`, JSON.stringify(chat))
})

for (let index = 0; index < commits; index += 1) {
  try {
    commit.immediate(index)
  } catch (error) {
    errors.push(String(error.code ?? error))
  }
  walBytesMax = Math.max(walBytesMax, statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0)
  await new Promise((resume) => setTimeout(resume, index % 6 === 5 ? longPauseMs : pauseMs))
}
try {
  db.close()
} catch (error) {
  errors.push(`close: ${String(error.code ?? error)}`)
}
process.stdout.write(`${JSON.stringify({ commits, errors, walBytesMax })}\n`)
