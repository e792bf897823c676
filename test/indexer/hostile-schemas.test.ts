import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { discoverSources } from '../../src/indexer/discover.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { kinds, reshape, shapes } from '../helpers/hostile-schemas.ts'
import { openIndexed } from '../helpers/in-process.ts'

const cases = kinds.flatMap((kind) => shapes.map((shape) => [kind.what, shape.what, kind, shape] as const))

test.each(cases)(
  '%s with %s is read whole, or is one trouble, and every other store is read',
  async (_, __, kind, shape) => {
    const { home, indexer } = openIndexed()
    home.close()
    const path = kind.write(home)
    home.close()
    reshape(path, kind.tables, shape)
    const healthy = new CursorHome()
    onTestFinished(() => healthy.remove())
    indexer.userDirs = [...indexer.userDirs, healthy.userDir]
    const store = healthy.global()
    store.message('b', 'm1', { type: 1, text: 'walnut' })
    const { ends } = await indexer.pass()
    expect(indexer.found('walnut')).toBe(1)
    const isRead = shape.isRead === 'by key' ? kind !== kinds[0] : shape.isRead
    expect(indexer.found('anvil')).toBe(isRead ? 1 : 0)
    const troubled = ends.filter(({ state, path: of }) => of === path && state !== 'ok')
    const issues = indexer.issues.filter((issue) => !issue.includes('odd'))
    expect(issues.length).toBeLessThanOrEqual(1)
    expect(isRead ? troubled : []).toEqual([])
    store.message('b', 'm2', { type: 1, text: 'cherry' })
    for (const depth of ['tail', 'keys', 'values'] as const) await indexer.pass(depth)
    expect(indexer.found('cherry')).toBe(1)
    for (const source of discoverSources({ userDirs: indexer.userDirs, homes: indexer.homes, disabledKinds: [] }))
      source.look?.()
    expect(new Database(path).close()).toBeDefined()
  },
)
