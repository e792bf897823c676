import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import type { Message } from '../../src/api/answers/messages.ts'
import type { Status } from '../../src/api/answers/status.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { World } from '../helpers/world.ts'

/** A chat that a case writes, and the expected result. */
export interface ExpectedChat {
  readonly id: string
  readonly title?: string
  /** Words that each occur in exactly one message of the chat; `in:tool word` if it occurs only in a call. */
  readonly words: readonly string[]
  /** The expected messages of its thread in the API's form, as far as they matter here. */
  readonly messages?: readonly object[]
}

/** One store format in this suite. A format without chats writes none, and has facts about chats of other stores. */
export interface SourceCase {
  readonly name: string
  /** Writes a store with these chats. */
  write(home: CursorHome): readonly ExpectedChat[]
  /** Changes the store: of these words the first is added and the second deleted. Left out if a format has no chats. */
  readonly change?: (home: CursorHome) => { readonly come: readonly string[]; readonly gone: readonly string[] }
  /** Damages a part of the store. Issues must be reported, and the other chats must stay. */
  readonly spoil?: (home: CursorHome) => void
}

interface Counts {
  readonly added: number
  readonly changed: number
  readonly gone: number
}

/** The tests that every source must pass, whatever its format. */
export function describeSource(format: SourceCase): void {
  describe(`the source of ${format.name}`, () => {
    let root: string
    let home: CursorHome
    let world: World
    let chats: readonly ExpectedChat[]

    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'cursordex-contract-'))
      home = new CursorHome(join(root, 'home'))
      world = await World.open({ home })
      chats = format.write(home)
    })
    afterEach(async () => {
      await world.remove()
      rmSync(root, { recursive: true, force: true })
    })

    const sync = async (full: boolean): Promise<Counts> => {
      home.close()
      return world.post<Counts>('/api/sync', { full })
    }
    const found = async (words: readonly string[]): Promise<(readonly [string, number])[]> =>
      Promise.all(
        words.map(async (word) => {
          const path = `/api/search?literal=true&q=${encodeURIComponent(word)}`
          return [word, (await world.get<Page<unknown>>(path)).total] as const
        }),
      )
    const listed = async (): Promise<readonly Chat[]> =>
      (await world.get<Page<Chat>>('/api/chats?limit=200&subagents=true&includeEmpty=true')).items
    const kept = async (): Promise<unknown> => {
      const ids = (await listed()).map(({ id }) => id).toSorted()
      const path = (id: string): string => `/api/chats/${encodeURIComponent(id)}/export?as=json&includeOrphans=true`
      const files = await Promise.all(ids.map(async (id) => (await world.request(path(id))).json()))
      return files.map((file) => ({ ...(file as object), exportedAt: null }))
    }
    const once = (words: readonly string[]): (readonly [string, number])[] => words.map((word) => [word, 1])
    const allWords = (): readonly string[] => chats.flatMap(({ words }) => words)
    const nothing: Counts = { added: 0, changed: 0, gone: 0 }

    test('every word of every chat is found, exactly once', async () => {
      await sync(false)
      const all = await listed()
      expect(all.map(({ id }) => id).toSorted()).toEqual(chats.map(({ id }) => id).toSorted())
      expect(await found(allWords())).toEqual(once(allWords()))
      for (const { id, title, messages } of chats) {
        const heldTitle = all.find((chat) => chat.id === id)?.title
        expect(title ?? heldTitle).toBe(heldTitle)
        const { items } = await world.get<Page<Message>>(`/api/chats/${encodeURIComponent(id)}/messages?limit=200`)
        expect(items).toMatchObject(messages ?? items)
      }
      expect((await world.get<Status>('/api/status')).issues).toEqual({})
    })

    test('a second pass, small or full, changes nothing', async () => {
      await sync(false)
      const before = await kept()
      for (const full of [false, true]) expect(await sync(full)).toMatchObject(nothing)
      expect(await kept()).toEqual(before)
    })

    test('nothing is written to the store, and no handle is left open', async () => {
      home.close()
      const before = bytesBelow(home.root)
      await sync(false)
      await sync(true)
      expect(bytesBelow(home.root)).toEqual(before)
      expect(openBelow(home.root)).toEqual([])
    })

    test('a vanished store keeps what was read, and is read again when it is back', async () => {
      await sync(false)
      const before = await kept()
      renameSync(home.root, `${home.root}-away`)
      await sync(false)
      expect(await found(allWords())).toEqual(once(allWords()))
      expect(await kept()).toEqual(before)
      renameSync(`${home.root}-away`, home.root)
      await sync(false)
      expect(await sync(true)).toMatchObject(nothing)
    })

    const { change } = format
    test.runIf(change !== undefined)('a change in the store changes the mirror; a deletion is kept', async () => {
      await sync(false)
      const { come, gone } = change?.(home) ?? { come: [], gone: [] }
      await sync(false)
      expect(await found([...come, ...gone])).toEqual(once([...come, ...gone]))
      expect((await world.get<Status>('/api/status')).counts.deleted).toBe(gone.length)
    })

    const { spoil } = format
    test.runIf(spoil !== undefined)('damaged data is an issue, and does not affect other data', async () => {
      spoil?.(home)
      await sync(false)
      const { issues } = await world.get<Status>('/api/status')
      expect(Object.keys(issues).length).toBeGreaterThan(0)
      const neighbours = (await found(allWords())).filter(([, count]) => count === 1)
      expect(neighbours.length > 0 || allWords().length === 0).toBe(true)
    })
  })
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
