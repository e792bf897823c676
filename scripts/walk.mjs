// Prints the files of ours through which a new message passes in a running daemon, from the event of the watcher to its
// full-text row: those of every function that any thread runs meanwhile. Build the program first.
//
//   node scripts/walk.mjs [folder of a built checkout]
import Database from 'better-sqlite3'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { findSourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'

const self = fileURLToPath(import.meta.url)
const LOOK_MS = 20

/** In each thread of the daemon: counts calls from the file `begin` to the file `end`, then writes down the functions. */
function count(folder) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = (use) => session.post('Profiler.takePreciseCoverage', (_, { result }) => use(result))
  const files = (result) =>
    new Set(
      result.flatMap(({ url, functions }) => {
        const map = url.startsWith('file:') ? findSourceMap(url) : undefined
        const lines = map === undefined ? [] : readFileSync(fileURLToPath(url), 'utf8').split('\n')
        const starts = lines.map(
          (
            (at) => (line) =>
              (at += line.length + 1) - line.length - 1
          )(0),
        )
        // The module itself is no call of ours.
        const ran = functions.filter(
          ({ functionName, ranges: [{ startOffset, count: calls }] }) =>
            calls > 0 && (functionName !== '' || startOffset > 0),
        )
        return ran.flatMap(({ ranges: [{ startOffset }] }) => {
          const line = starts.findLastIndex((start) => start <= startOffset)
          const { originalSource } = map?.findEntry(line, startOffset - (starts[line] ?? 0)) ?? {}
          return originalSource === undefined
            ? []
            : [resolve(dirname(fileURLToPath(url)), originalSource.replace('file://', ''))]
        })
      }),
    )
  let step = 0
  setInterval(() => {
    if (step === 0 && existsSync(join(folder, 'begin'))) take(() => (step = 1))
    if (step !== 1 || !existsSync(join(folder, 'end'))) return
    step = 2
    take((result) => writeFileSync(join(folder, `${process.pid}-${threadId}.files`), [...files(result)].join('\n')))
  }, LOOK_MS).unref()
}

async function walk(root) {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-walk-'))
  const stores = join(folder, 'Cursor', 'User', 'globalStorage')
  mkdirSync(stores, { recursive: true })
  const cursor = new Database(join(stores, 'state.vscdb'))
  cursor.pragma('journal_mode = wal')
  cursor.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
  const put = (key, value) => cursor.prepare('insert into cursorDiskKV values (?, ?)').run(key, JSON.stringify(value))
  const say = (id, text) =>
    put(`bubbleId:walk:${id}`, { _v: 3, bubbleId: id, type: 1, text, createdAt: new Date().toISOString() })
  put('composerData:walk', {
    _v: 3,
    composerId: 'walk',
    name: 'A walk',
    createdAt: Date.now(),
    fullConversationHeadersOnly: [
      { bubbleId: 'one', type: 1 },
      { bubbleId: 'two', type: 1 },
    ],
  })
  say('one', 'The first words of the chat.')
  const env = {
    ...process.env,
    CURSORDEX_DATA_DIR: join(folder, 'data'),
    CURSORDEX_CURSOR_USER_DIRS: join(folder, 'Cursor', 'User'),
    CURSORDEX_CURSOR_HOMES: join(folder, 'none'),
    WALK_FOLDER: folder,
    NODE_OPTIONS: `--enable-source-maps --import ${self}`,
  }
  const daemon = spawn(process.execPath, [join(root, 'dist/cli/bin.js'), 'serve', '--port', '0'], {
    env,
    stdio: 'inherit',
  })
  const has = (words) => {
    const path = join(folder, 'data', 'mirror.db')
    if (!existsSync(path)) return false
    const mirror = new Database(path, { readonly: true })
    try {
      return mirror.prepare('select 1 from message_terms where message_terms match ?').get(words) !== undefined
    } catch {
      return false
    } finally {
      mirror.close()
    }
  }
  const until = async (isTrue) => {
    for (let waited = 0; !isTrue(); waited += LOOK_MS) {
      if (waited > 60_000) throw new Error('the daemon does not come so far')
      await wait(LOOK_MS)
    }
  }
  try {
    await until(() => has('first'))
    await wait(5000)
    writeFileSync(join(folder, 'begin'), '')
    await wait(10 * LOOK_MS)
    say('two', 'The second words.')
    await until(() => has('second'))
    writeFileSync(join(folder, 'end'), '')
    await wait(1500)
    const lists = readdirSync(folder).filter((name) => name.endsWith('.files'))
    const all = lists.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    const ours = [...new Set(all.map((path) => relative(root, path)))].filter((path) => path.startsWith('src')).sort()
    console.log(`${ours.join('\n')}\n${ours.length} files`)
  } finally {
    daemon.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.env.WALK_FOLDER !== undefined) count(process.env.WALK_FOLDER)
else await walk(resolve(process.argv[2] ?? join(dirname(self), '..')))
