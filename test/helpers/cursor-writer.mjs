// Plays Cursor in a separate process, with a store as its editor uses it: commits of inserts and deletes, a close with a
// checkpoint at each quit, then a copy of the main file as backup, and a restart with the same file.
// Prints one line of JSON: failures, the largest WAL, the longest commit, the number of incomplete backups, and a
// digest of everything written.
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, statSync } from 'node:fs'

// The same choice as in `src/sqlite.ts`.
const { default: Database } = await import(
  Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'
)

const order = JSON.parse(process.argv[2] ?? '{}')
const { path, journalMode, quits, commits, textLength, timeoutMs } = order
const expected = new Map()
const told = { commits: 0, errors: [], walBytesMax: 0, commitMsMax: 0, quits: 0, staleBackups: 0, digest: '' }

let state = 7
/** The same sequence of numbers each time, from 0 (included) to `count` (excluded). */
function below(count) {
  state = (state * 48_271) % 2_147_483_647
  return state % count
}

const pause = (ms) => new Promise((resume) => setTimeout(resume, ms))
const hashOf = (value) => createHash('sha256').update(value).digest('hex')

function attempt(what, act) {
  const startedAt = performance.now()
  try {
    act()
    return true
  } catch (error) {
    told.errors.push(`${what}: ${error.code ?? error}`)
    return false
  } finally {
    told.commitMsMax = Math.max(told.commitMsMax, performance.now() - startedAt)
  }
}

/** One commit: a message, its chat's row, and sometimes the deletion of an older message. */
function commit(db, session, index) {
  const chatId = `session-${session}`
  const id = `s${session}-${index}`
  const text = `session${session}x${index} `.padEnd(textLength, 'words of a message ')
  const headers = Array.from({ length: index + 1 }, (_, at) => ({ bubbleId: `s${session}-${at}`, type: 1 + (at % 2) }))
  const rows = [
    [`bubbleId:${chatId}:${id}`, JSON.stringify({ _v: 2, bubbleId: id, type: 1 + (index % 2), text })],
    [
      `composerData:${chatId}`,
      JSON.stringify({ _v: 3, composerId: chatId, name: 'A session', fullConversationHeadersOnly: headers }),
    ],
  ]
  const gone = index % 10 === 9 ? `bubbleId:${chatId}:s${session}-${index - 5}` : null
  const isDone = attempt('commit', () => {
    db.transaction(() => {
      db.prepare('insert into cursorDiskKV (key, value) values (?, ?), (?, ?)').run(...rows.flat())
      if (gone !== null) db.prepare('delete from cursorDiskKV where key = ?').run(gone)
    }).immediate()
  })
  if (!isDone) return
  for (const [key, value] of rows) expected.set(key, hashOf(value))
  if (gone !== null) expected.delete(gone)
  told.commits += 1
  told.walBytesMax = Math.max(told.walBytesMax, statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0)
}

/** Whether the copy lacks written data. */
function isStale(backup) {
  const bytes = readFileSync(backup)
  // An in-memory database has no WAL. These bytes of the file name its journal mode.
  bytes.fill(1, 18, 20)
  const db = new Database(bytes)
  try {
    return digestOf(db) !== digestExpected()
  } catch {
    return true
  } finally {
    db.close()
  }
}

const digestOfLines = (lines) => hashOf(lines.toSorted().join('\n'))
const digestExpected = () => digestOfLines([...expected].map(([key, hash]) => `${key} ${hash}`))
const digestOf = (db) =>
  digestOfLines(
    db
      .prepare('select key, value from cursorDiskKV')
      .all()
      .map(({ key, value }) => `${key} ${hashOf(value)}`),
  )

for (let session = 1; session <= quits; session += 1) {
  const db = new Database(path, { timeout: timeoutMs })
  attempt('open', () => {
    db.pragma(`journal_mode = ${journalMode}`)
    db.pragma('synchronous = normal')
    db.exec(`create table if not exists ItemTable (key text unique on conflict replace, value blob);
      create table if not exists cursorDiskKV (key text unique on conflict replace, value blob);`)
  })
  if (session === 1) for (const { key } of db.prepare('select key from cursorDiskKV').all()) expected.set(key, null)
  for (const [key, hash] of expected) {
    if (hash === null)
      expected.set(key, hashOf(db.prepare('select value from cursorDiskKV where key = ?').pluck().get(key)))
  }
  for (let index = 0; index < commits; index += 1) {
    // Bursts with pauses of any length between them. In some pauses a reader opens the file.
    if (index > 0) await pause(index % 12 === 0 ? below(160) : 1 + below(4))
    commit(db, session, index)
  }
  // Pending data is written at the quit, and the file is closed at once.
  attempt('close', () => db.close())
  told.quits += 1
  copyFileSync(path, `${path}.backup`)
  if (isStale(`${path}.backup`)) told.staleBackups += 1
  await pause(below(120))
}
told.digest = digestExpected()
process.stdout.write(`${JSON.stringify(told)}\n`)
