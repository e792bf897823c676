import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth, PassEnd, PassStep, Source } from '../../src/indexer/source.ts'
import { listMessages } from '../../src/api/queries/messages/list-messages.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { asChatId } from '../../src/model/ids.ts'
import type { Message } from '../../src/api/http/schemas/messages.ts'

/** A chat that a case writes, and the expected result. */
export interface ExpectedChat {
  readonly id: string
  readonly title?: string
  /** Words that each occur in exactly one message of the chat; `tool : word` if it occurs only in a call. */
  readonly words: readonly string[]
  /** The expected messages of its thread in the API's form, as far as they matter here. */
  readonly messages?: readonly object[]
}

/**
 * One store format in this suite. Everything happens below `root`, which is empty at first. A format without chats
 * writes none, and must then have facts about chats of other stores.
 */
export interface SourceCase {
  readonly name: string
  /** Writes a store with these chats. `release` closes whatever it leaves open. */
  write(root: string): readonly ExpectedChat[]
  sources(root: string): readonly Source[]
  /** Changes the store: of these words the first is added and the second deleted. Left out if a format has no chats. */
  change?(root: string): { readonly come: readonly string[]; readonly gone: readonly string[] }
  /** Damages a part of the store. This many issues must be reported, and the other chats must stay. */
  spoil?(root: string): void
  release?(): void
}

interface Summary {
  readonly steps: readonly PassStep[]
  readonly end: PassEnd
  readonly counts: { readonly added: number; readonly changed: number; readonly gone: number }
}

/** The tests that every source must pass, whatever its format. */
export function describeSource(format: SourceCase): void {
  describe(`the source of ${format.name}`, () => {
    let root: string
    let mirror: Mirror
    let clockMs = 1_790_000_000_000

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'cursordex-contract-'))
      mirror = openWriter(join(root, 'mirror', 'mirror.db'))
    })
    afterEach(() => {
      format.release?.()
      mirror.close()
      rmSync(root, { recursive: true, force: true })
    })

    const home = (): string => join(root, 'home')
    const run = (source: Source, depth: PassDepth, stopAfter = Infinity): Summary | null => {
      // Far apart, so that a pass with a minimum interval is never too early.
      clockMs += 120_000
      const pass = source.pass(mirror, { depth, now: () => clockMs })
      const steps: PassStep[] = []
      for (let next = pass.next(); ; next = pass.next()) {
        if (next.done === true) return summarise(steps, next.value)
        steps.push(next.value)
        if (steps.length < stopAfter) continue
        pass.return({ state: 'ok', detail: null, again: [] })
        return null
      }
    }
    const runAll = (depth: PassDepth): Summary[] => {
      const ends = format.sources(home()).flatMap((source) => run(source, depth) ?? [])
      while (indexBacklog(mirror) > 0);
      return ends
    }
    const found = (word: string): number =>
      mirror
        .prepare<[string], number>('select count(*) from message_terms where message_terms match ?')
        .pluck()
        .get(word) ?? 0
    const all = (sql: string): unknown[] => mirror.prepare(sql).all()
    const heads = (): unknown[] => [...all('select * from heads'), ...all('select * from tracked')]
    /** The content of the mirror, without the times at which it was written. */
    const kept = (): unknown[] => [
      ...all('select key, chat, id, position, content_hash, is_live from messages'),
      ...all('select chat_id, method, project, rank from evidence'),
      ...heads(),
    ]
    const messagesOf = (id: string): readonly Message[] => {
      const request = { chatId: asChatId(id), around: null, includeOrphans: false, limit: 200, offset: 0 }
      const list = listMessages(mirror, request)
      return list.kind === 'page' ? list.page.items : []
    }
    const titleOf = (id: string): unknown => mirror.prepare('select title from chats where id = ?').pluck().get(id)

    test('without a store, nothing is thrown and nothing is invented', () => {
      for (const { end } of runAll('nudge')) expect(['missing', 'ok']).toContain(end.state)
      expect(mirror.prepare('select count(*) from chats').pluck().get()).toBe(0)
      expect(existsSync(home())).toBe(false)
    })

    test('every word of every chat is found, exactly once', () => {
      const chats = format.write(home())
      for (const { end } of runAll('nudge')) expect(end).toMatchObject({ state: 'ok' })
      expect(all('select id from chats order by id')).toEqual(chats.map(({ id }) => ({ id })).sort(byId))
      expect(kept()).not.toEqual([])
      for (const { id, title, words, messages } of chats) {
        expect(words.map((word) => [word, found(word)])).toEqual(words.map((word) => [word, 1]))
        expect(title ?? titleOf(id)).toBe(titleOf(id))
        expect(messagesOf(id)).toMatchObject(messages ?? messagesOf(id))
      }
      expect(all('select key, reason from row_issues')).toEqual([])
    })

    test('none of the test data is reported as unknown', ({ skip }) => {
      format.write(home())
      const surveys = format.sources(home()).flatMap((source) => source.survey?.() ?? [])
      skip(surveys.length === 0, 'stores of this kind are not surveyed')
      const families = surveys.flatMap(({ tables }) => tables.flatMap((table) => table.families))
      expect(families.filter(({ use }) => use === 'unknown')).toEqual([])
      expect(surveys.flatMap(({ tables }) => tables.filter(({ use }) => use === 'unknown'))).toEqual([])
      expect(surveys.flatMap(({ tables }) => tables.filter(({ unnamedRows }) => unnamedRows > 0))).toEqual([])
    })

    test.each(['nudge', 'count', 'reconcile', 'full'] as const)('a second pass, %s, changes nothing', (depth) => {
      format.write(home())
      runAll('nudge')
      const before = kept()
      for (const { counts } of runAll(depth)) expect(counts).toEqual({ added: 0, changed: 0, gone: 0 })
      expect(kept()).toEqual(before)
    })

    test('if a pass stops after any step, the next pass leads to the same result', () => {
      const chats = format.write(home())
      for (const source of format.sources(home())) for (const stop of [1, 2, 3]) run(source, 'nudge', stop)
      runAll('reconcile')
      expect(kept()).not.toEqual([])
      for (const word of chats.flatMap(({ words }) => words)) expect([word, found(word)]).toEqual([word, 1])
    })

    test('nothing is written to the store, and no handle is left open', () => {
      format.write(home())
      format.release?.()
      const before = bytesBelow(home())
      runAll('nudge')
      runAll('full')
      expect(bytesBelow(home())).toEqual(before)
      expect(openBelow(home())).toEqual([])
    })

    test('a vanished store keeps what was read, and is read again when it is back', () => {
      const chats = format.write(home())
      runAll('nudge')
      const before = kept()
      format.release?.()
      renameSync(home(), `${home()}-away`)
      runAll('nudge')
      for (const word of chats.flatMap(({ words }) => words)) expect([word, found(word)]).toEqual([word, 1])
      expect(kept()).toEqual(before)
      renameSync(`${home()}-away`, home())
      runAll('nudge')
      for (const { counts } of runAll('full')) expect(counts).toEqual({ added: 0, changed: 0, gone: 0 })
    })

    test.runIf(format.change !== undefined)('a change in the store changes the mirror; a deletion is kept', () => {
      format.write(home())
      runAll('nudge')
      const { come, gone } = format.change?.(home()) ?? { come: [], gone: [] }
      runAll('nudge')
      expect(come.map((word) => [word, found(word)])).toEqual(come.map((word) => [word, 1]))
      expect(gone.map((word) => [word, found(word)])).toEqual(gone.map((word) => [word, 1]))
      expect(mirror.prepare('select count(*) from messages where is_live = 0').pluck().get()).toBe(gone.length)
    })

    test.runIf(format.spoil !== undefined)('damaged data is an issue, and does not affect other data', () => {
      const chats = format.write(home())
      format.spoil?.(home())
      for (const { end } of runAll('nudge')) expect(end).toMatchObject({ state: 'ok' })
      expect(mirror.prepare('select count(*) from row_issues').pluck().get()).toBeGreaterThan(0)
      const words = chats.flatMap((chat) => chat.words)
      const neighbours = chats.length === 0 ? heads() : words.filter((word) => found(word) === 1)
      expect(neighbours.length).toBeGreaterThan(0)
    })
  })
}

const byId = (one: { readonly id: string }, other: { readonly id: string }): number => (one.id < other.id ? -1 : 1)

function summarise(steps: readonly PassStep[], end: PassEnd): Summary {
  const sum = (pick: 'added' | 'changed' | 'gone'): number =>
    steps.reduce((total, { outcome }) => total + (outcome?.[pick] ?? 0), 0)
  return { steps, end, counts: { added: sum('added'), changed: sum('changed'), gone: sum('gone') } }
}

function bytesBelow(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !/-(shm|wal)$/.test(path))
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path).toString('base64')]))
}

/** Files of the folder that this process has open; empty if the system does not report them. */
function openBelow(folder: string): string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      return target.startsWith(folder) ? [target] : []
    } catch {
      // The descriptor through which the list itself was read.
      return []
    }
  })
}
