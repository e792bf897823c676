// Plays Cursor in a process of its own, as its editor keeps a store: commits of inserts and deletes, a close with its
// checkpoint at each quit, then a copy of the main file as backup, and a start again on the same file.
// Prints one line of JSON: what failed, how long the WAL and a commit got, how many backups lacked something, and a
// digest of all that was written.
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, statSync } from 'node:fs'

// As `src/sqlite.ts` chooses it.
const { default: Database } = await import(
  Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'
)

const order = JSON.parse(process.argv[2] ?? '{}')
const { path, journalMode, quits, commits, textLength, timeoutMs } = order
const expected = new Map()
const told = { commits: 0, errors: [], walBytesMax: 0, commitMsMax: 0, quits: 0, staleBackups: 0, digest: '' }

let state = 7
/** The same numbers each time, from 0 up to, and without, `count`. */
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

/** One commit: a message, its chat's row, and now and then the end of an older message. */
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

/** Whether the copy lacks anything of what was written. */
function isStale(backup) {
  const bytes = readFileSync(backup)
  // In memory there is no WAL; these bytes say which journal the file uses.
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
    // Bursts, and between them pauses of any length, in some of which a reader comes.
    if (index > 0) await pause(index % 12 === 0 ? below(160) : 1 + below(4))
    commit(db, session, index)
  }
  // What is still to be written is written as it quits, and the file closed at once.
  attempt('close', () => db.close())
  told.quits += 1
  copyFileSync(path, `${path}.backup`)
  if (isStale(`${path}.backup`)) told.staleBackups += 1
  await pause(below(120))
}
told.digest = digestExpected()
process.stdout.write(`${JSON.stringify(told)}\n`)
