import { afterEach, beforeEach, expect, test } from 'vitest'
import { deferred } from '../../src/engine/deferred.ts'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { noteUnindexed } from '../../src/mirror/fulltext/backlog.ts'
import { beginPurge } from '../../src/mirror/purge/begin-purge.ts'
import { findTargets } from '../../src/mirror/purge/find-targets.ts'
import { endRemoval } from '../../src/mirror/purge/remove-targets.ts'
import { SECRET_FILE } from '../../src/mirror/purge/tombstones.ts'
import { openReader } from '../../src/mirror/open.ts'
import { readUnfinished } from '../../src/mirror/purge/state.ts'
import { CursorHome, headers } from '../helpers/cursor.ts'
import { keepNow } from '../helpers/guard/healed.ts'
import { Indexer } from '../helpers/in-process.ts'
import { findBytes, PurgeHere, scopeOf } from '../helpers/purge-world.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const SECRET = 'Vermilion-Octavo-9'
const LONG = 1500
const at = (second: number): string => new Date(Date.UTC(2026, 1, 1, 9, 0, second)).toISOString()

let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  const store = home.global()
  store.db.transaction(() => {
    const ids = Array.from({ length: LONG }, (_, message) => `m${message}`)
    store.chat('a', { name: 'Long', fullConversationHeadersOnly: headers(ids) })
    for (const [message, id] of ids.entries()) {
      const text = message % 10 === 0 ? `plain ${message}` : `${SECRET} ${message}`
      // Some have no time of their own and get a neighbour's.
      const time = message % 3 === 0 ? { createdAt: at(message) } : {}
      store.message('a', id, { type: 1 + (message % 2), text, ...time })
    }
  })()
  indexer = new Indexer(home.userDir)
  indexer.pass()
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const noArchive = { chatIds: [], messages: [], texts: [] }
const nothingDone = {
  plan: null,
  setAside: [],
  unfinished: { rows: false, archives: false, bytes: true },
}
const scope = scopeOf({ match: SECRET })

function begin(): void {
  const steps = findTargets(indexer.mirror, scope)
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done !== true) continue
    return beginPurge(indexer.mirror, scope, next.value, noArchive, Date.now())
  }
}

test('a long chat is removed completely, in several transactions', () => {
  begin()
  const steps = endRemoval(indexer.mirror, Date.now())
  let transactions = 0
  while (steps.next().done !== true) transactions += 1
  expect(transactions).toBeGreaterThan(2)
  expect(indexer.thread('a')).toHaveLength(LONG / 10)
  expect(readUnfinished(indexer.mirror)).toEqual({ rows: false, archives: true, bytes: true })
})

test('passes between two transactions of a purge do not bring anything back', async () => {
  begin()
  const steps = endRemoval(indexer.mirror, Date.now())
  steps.next()
  steps.return()
  const store = home.global()
  // Everything is read again with other times: the targets must still be found.
  store.db.transaction(() => {
    for (let message = 0; message < LONG; message += 1) {
      const text = message % 10 === 0 ? `plain ${message}` : `${SECRET} ${message} again`
      store.message('a', `m${message}`, { type: 1 + (message % 2), text, createdAt: at(5000 + message) })
    }
  })()
  indexer.restart()
  indexer.pass('full')
  indexer.mirror.close()
  // Whatever opens the mirror next finishes the purge.
  const kept = new MirrorMaintenance(indexer.path, Date.now)
  keepNow(kept, 'check')
  expect(readUnfinished(kept.db).rows).toBe(false)
  kept.close()
  await new PurgeHere(indexer.folder).purging.resume()
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
  indexer.restart()
  expect(readUnfinished(indexer.mirror)).toEqual({ rows: false, archives: false, bytes: false })
  expect(indexer.thread('a').map(([, , text]) => text)).toEqual(
    Array.from({ length: LONG / 10 }, (_, tenth) => `plain ${tenth * 10}`),
  )
})

test('messages that wait to be indexed are removed too', async () => {
  indexer.mirror.exec('delete from message_terms where rowid in (select key from messages where position < 100)')
  for (const { key } of indexer.mirror
    .prepare<[], { key: number }>('select key from messages where position < 100')
    .all())
    noteUnindexed(indexer.mirror, key)
  indexer.mirror.close()
  expect(await new PurgeHere(indexer.folder).purge({ match: SECRET })).toMatchObject({ messages: (LONG * 9) / 10 })
  indexer.restart()
  expect(indexer.mirror.prepare('select count(*) from unindexed').pluck().get()).toBeGreaterThan(0)
  indexer.pass()
  indexer.mirror.close()
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})

test('a reader with an old snapshot is closed, and then nothing is left', async () => {
  indexer.mirror.close()
  const reader = openReader(indexer.path)
  reader.exec('begin')
  reader.prepare('select count(*) from bodies').get()
  let shut = 0
  const readers = {
    shut: () => {
      shut += 1
      reader.close()
    },
    reopen: () => undefined,
  }
  const here = new PurgeHere(indexer.folder, { readers })
  expect(await here.purge({ match: SECRET })).toMatchObject({ left: null, check: { found: [] } })
  expect(shut).toBe(1)
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})

/** The file is rewritten each time except the first. @param tried gets an entry each time */
function notCompactedAtFirst(left: 'disk-full' | 'reader', tried: string[]): PurgeHere['mirror'] {
  const here = new PurgeHere(indexer.folder)
  return (order) => {
    if (order.act !== 'compact') return here.mirror(order)
    tried.push(order.act)
    return tried.length === 1 ? Promise.resolve({ ...nothingDone, left }) : here.mirror(order)
  }
}

test('if the disk is full, the rows are removed, and the file is rewritten later', async () => {
  indexer.mirror.close()
  const tried: string[] = []
  const later: (() => void)[] = []
  const full = new PurgeHere(indexer.folder, {
    mirror: notCompactedAtFirst('disk-full', tried),
    later: (act) => later.push(act),
  })
  const report = await full.purge({ match: SECRET })
  expect([tried.length, report.left]).toEqual([1, expect.stringContaining('no room')])
  indexer.restart()
  expect(indexer.thread('a')).toHaveLength(LONG / 10)
  expect(readUnfinished(indexer.mirror)).toEqual({ rows: false, archives: false, bytes: true })
  indexer.mirror.close()
  expect(later).toHaveLength(1)
  later.shift()?.()
  await waitUntil('the rest to be done', () => tried.length === 2 && full.purging.doing === null)
  expect(later).toEqual([])
  indexer.restart()
  expect(readUnfinished(indexer.mirror).bytes).toBe(false)
})

test('the rest of a purge is tried again if another purge runs at that time', async () => {
  indexer.mirror.close()
  const later: (() => void)[] = []
  const archives = deferred<void>()
  const compacted: string[] = []
  const full: PurgeHere = new PurgeHere(indexer.folder, {
    mirror: notCompactedAtFirst('reader', compacted),
    later: (act) => later.push(act),
    alone: async (act) => {
      if (later.length > 0) await archives.promise
      return act()
    },
    readers: { shut: () => compacted.splice(0), reopen: () => undefined },
  })
  await full.purge({ match: SECRET })
  expect(later).toHaveLength(1)
  const looking = full.look({ match: 'something else' })
  later.splice(0, 1)[0]?.()
  archives.resolve()
  await looking
  expect(later).toHaveLength(1)
  later.splice(0)[0]?.()
  await waitUntil('the rest to be done', () => full.purging.doing === null && compacted.length > 1)
})

test('without the key for texts, purged ids stay out', async () => {
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: SECRET })
  rmSync(join(indexer.folder, SECRET_FILE))
  const store = home.global()
  store.message('a', 'm1', { type: 1, text: `${SECRET} 1 once more`, createdAt: at(9000) })
  indexer.restart()
  indexer.pass('full')
  expect(indexer.thread('a')).toHaveLength(LONG / 10)
})
