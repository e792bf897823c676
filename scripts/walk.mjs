// Prints the files of ours through which a new message passes in a running daemon, from the event of the watcher to its
// full-text row: those of every function that any thread runs meanwhile. node scripts/walk.mjs [a built checkout]
import Database from 'better-sqlite3'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'

const self = fileURLToPath(import.meta.url)
const folder = process.env['WALK_FOLDER']

/** In each thread of the daemon: counts calls from when the file `begin` is there until the file `end` is. */
function countCalls(into) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = (use) => session.post('Profiler.takePreciseCoverage', (_, { result }) => use(result))
  const waitFor = (name, use) => {
    const timer = setInterval(() => {
      if (!existsSync(join(into, name))) return
      clearInterval(timer)
      take(use)
    }, 20).unref()
  }
  const save = (result) => writeFileSync(join(into, `${process.pid}-${threadId}.calls`), JSON.stringify(result))
  waitFor('begin', () => waitFor('end', save))
}

/** The source files of the functions that ran in one script. */
function sourcesOf({ url, functions }) {
  const path = url.startsWith('file:') ? fileURLToPath(url) : ''
  if (!existsSync(`${path}.map`)) return []
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
  const text = readFileSync(path, 'utf8')
  // The module as a whole is no call of ours.
  const ran = functions.filter(
    ({ functionName, ranges: [{ startOffset, count }] }) => count > 0 && (functionName !== '' || startOffset > 0),
  )
  return ran.flatMap(({ ranges: [{ startOffset }] }) => {
    const before = text.slice(0, startOffset).split('\n')
    const { originalSource } = map.findEntry(before.length - 1, before.at(-1)?.length ?? 0)
    return originalSource === undefined ? [] : resolve(path, '..', originalSource)
  })
}

async function walk(root) {
  const home = mkdtempSync(join(tmpdir(), 'cursordex-walk-'))
  const user = join(home, 'User')
  mkdirSync(join(user, 'globalStorage'), { recursive: true })
  const cursor = new Database(join(user, 'globalStorage', 'state.vscdb'))
  cursor.pragma('journal_mode = wal')
  cursor.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
  const put = (key, value) => cursor.prepare('insert into cursorDiskKV values (?, ?)').run(key, JSON.stringify(value))
  const say = (id, text) => put(`bubbleId:walk:${id}`, { _v: 3, type: 1, text, createdAt: new Date().toISOString() })
  const headers = ['one', 'two'].map((bubbleId) => ({ bubbleId, type: 1 }))
  put('composerData:walk', { _v: 3, composerId: 'walk', createdAt: Date.now(), fullConversationHeadersOnly: headers })
  say('one', 'The first words')
  const dirs = {
    CURSORDEX_DATA_DIR: join(home, 'data'),
    CURSORDEX_CURSOR_USER_DIRS: user,
    CURSORDEX_CURSOR_HOMES: home,
  }
  const env = { ...process.env, ...dirs, WALK_FOLDER: home, NODE_OPTIONS: `--import ${self}` }
  const daemon = spawn(process.execPath, [join(root, 'dist/cli/bin.js'), 'serve', '--port', '0'], { env })
  const untilFound = async (word) => {
    for (let found; found === undefined; await wait(20)) {
      // Versions before schema 29 have the index in the mirror.
      const path = ['index.db', 'mirror.db'].map((name) => join(home, 'data', name)).find(existsSync)
      if (path === undefined) continue
      const index = new Database(path, { readonly: true })
      const isMade = index.prepare(`select 1 from sqlite_schema where name = 'message_terms'`).get() !== undefined
      if (isMade) found = index.prepare('select 1 from message_terms where message_terms match ?').get(word)
      index.close()
    }
  }
  try {
    await untilFound('first')
    await wait(5000)
    writeFileSync(join(home, 'begin'), '')
    await wait(200)
    say('two', 'The second words')
    await untilFound('second')
    writeFileSync(join(home, 'end'), '')
    await wait(1500)
    const calls = readdirSync(home).filter((name) => name.endsWith('.calls'))
    const all = calls.flatMap((name) => JSON.parse(readFileSync(join(home, name), 'utf8')).flatMap(sourcesOf))
    const ours = [...new Set(all.map((path) => relative(root, path)))].filter((path) => path.startsWith('src')).sort()
    process.stdout.write(`${ours.join('\n')}\n${ours.length} files\n`)
  } finally {
    daemon.kill()
    rmSync(home, { recursive: true, force: true })
  }
}

if (folder === undefined) await walk(resolve(process.argv[2] ?? join(self, '..', '..')))
else countCalls(folder)
