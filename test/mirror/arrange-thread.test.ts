import { describe, expect, test } from 'vitest'
import { arrangeThread } from '../../src/mirror/threads/arrange-thread.ts'
import { asMessageId } from '../../src/model/ids.ts'
import type { Outline, OutlineEntry, Placement, ThreadEntry } from '../../src/model/thread.ts'

function entry(id: string, more: Partial<ThreadEntry> = {}): ThreadEntry {
  return {
    id: asMessageId(id),
    alias: null,
    role: 'assistant',
    sentAtMs: null,
    startedAtMs: null,
    timingAtMs: null,
    isLive: true,
    contentHash: id,
    ...more,
  }
}

function listed(id: string, more: Partial<OutlineEntry> = {}): OutlineEntry {
  return { id: asMessageId(id), role: null, createdAtMs: null, startedAtMs: null, ...more }
}

/** `[id, position]` by position, orphans last. */
function places(outline: Outline, entries: readonly ThreadEntry[]): (readonly [string, number | null])[] {
  return arrangeThread(outline, entries, null).map(({ id, position }) => [id, position])
}

function byId(placements: readonly Placement[], id: string): Placement | undefined {
  return placements.find((placement) => placement.id === id)
}

describe('order', () => {
  test('the outline decides, regardless of the order of the rows', () => {
    const entries = [entry('c', { sentAtMs: 1 }), entry('a', { sentAtMs: 3 }), entry('b', { sentAtMs: 2 })]
    expect(places([listed('a'), listed('b'), listed('c')], entries)).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ])
  })

  test('an outline entry without a row leaves a gap in the positions', () => {
    expect(places([listed('a'), listed('missing'), listed('c')], [entry('a'), entry('c')])).toEqual([
      ['a', 0],
      ['c', 2],
    ])
  })

  test('a row that the outline does not name is an orphan', () => {
    expect(places([listed('a')], [entry('a'), entry('left-over')])).toEqual([
      ['a', 0],
      ['left-over', null],
    ])
  })

  test('after a restore, rows under other ids are matched by role and start', () => {
    const outline = [
      listed('new-1', { role: 'user', startedAtMs: 100 }),
      listed('new-2', { role: 'assistant', startedAtMs: 100 }),
      listed('kept', { role: 'user', startedAtMs: 300 }),
    ]
    const entries = [
      entry('old-2', { role: 'assistant', startedAtMs: 100 }),
      entry('old-1', { role: 'user', sentAtMs: 100 }),
      entry('kept', { role: 'user', startedAtMs: 300 }),
      entry('other', { role: 'user', startedAtMs: 400 }),
    ]
    expect(places(outline, entries)).toEqual([
      ['old-1', 0],
      ['old-2', 1],
      ['kept', 2],
      ['other', null],
    ])
  })

  test('a row is also matched by its alias', () => {
    expect(places([listed('inner')], [entry('outer', { alias: asMessageId('inner') })])).toEqual([['outer', 0]])
  })

  test('a message whose row vanished keeps its place while the chat names it', () => {
    expect(places([listed('a'), listed('b')], [entry('a'), entry('b', { isLive: false })])).toEqual([
      ['a', 0],
      ['b', 1],
    ])
  })

  test('a live row takes a place before a vanished one', () => {
    const outline = [listed('gone', { role: 'user', startedAtMs: 100 })]
    const entries = [
      entry('gone', { role: 'user', startedAtMs: 100, isLive: false }),
      entry('there', { role: 'user', startedAtMs: 100 }),
    ]
    expect(places(outline, entries)).toEqual([
      ['there', 0],
      ['gone', null],
    ])
  })

  test('without an outline the rows are ordered by time, then by id; rows without a time are last', () => {
    const entries = [
      entry('z', { sentAtMs: 5 }),
      entry('untimed'),
      entry('y', { timingAtMs: 2 }),
      entry('b', { sentAtMs: 5 }),
    ]
    expect(places(null, entries)).toEqual([
      ['y', 0],
      ['b', 1],
      ['z', 2],
      ['untimed', 3],
    ])
  })

  test('an id that is twice in the outline places its row once', () => {
    expect(places([listed('a'), listed('a')], [entry('a')])).toEqual([['a', 0]])
  })
})

describe('times', () => {
  test('each source in its turn', () => {
    const outline = [
      listed('own', { createdAtMs: 9 }),
      listed('header', { createdAtMs: 20, startedAtMs: 21 }),
      listed('header-start', { startedAtMs: 30 }),
      listed('timing'),
      listed('between'),
      listed('later', { createdAtMs: 60 }),
      listed('after-all'),
    ]
    const entries = [
      entry('own', { sentAtMs: 10 }),
      entry('header', { timingAtMs: 25 }),
      entry('header-start'),
      entry('timing', { timingAtMs: 40 }),
      entry('between'),
      entry('later'),
      entry('after-all'),
    ]
    const times = arrangeThread(outline, entries, { atMs: 1, source: 'chat' }).map((placed) => [
      placed.createdAtMs,
      placed.createdAtSource,
    ])
    expect(times).toEqual([
      [10, 'message'],
      [20, 'header'],
      [30, 'header'],
      [40, 'timing'],
      [40, 'neighbour'],
      [60, 'header'],
      [60, 'neighbour'],
    ])
  })

  test('where no message has a time the chat lends its own, and without that there is none', () => {
    const entries = [entry('a'), entry('b')]
    expect(arrangeThread(null, entries, { atMs: 7, source: 'chat' }).map((placed) => placed.createdAtSource)).toEqual([
      'chat',
      'chat',
    ])
    expect(arrangeThread(null, entries, null)).toMatchObject([
      { createdAtMs: null, createdAtSource: null },
      { createdAtMs: null, createdAtSource: null },
    ])
  })
})

describe('orphans', () => {
  test('an orphan with the same content as a message of the thread is shadowed', () => {
    const placements = arrangeThread(
      [listed('a')],
      [
        entry('a', { contentHash: 'same' }),
        entry('twin', { contentHash: 'same' }),
        entry('own', { contentHash: 'other' }),
      ],
      null,
    )
    expect(byId(placements, 'twin')).toMatchObject({ isOrphan: true, isShadowed: true })
    expect(byId(placements, 'own')).toMatchObject({ isOrphan: true, isShadowed: false })
    expect(byId(placements, 'a')).toMatchObject({ isOrphan: false, isShadowed: false })
  })
})
