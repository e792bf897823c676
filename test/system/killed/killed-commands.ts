// oxlint-disable vitest/no-standalone-expect -- A test runs these phases and checks them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { PurgePlace, secretOf, wordOf } from '../../helpers/purge-place.ts'
import { findBytes } from '../../helpers/purge-world.ts'
import { Cursordex, Workplace, type Ended } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { ArchiveRestored, ArchiveRun } from '../../../src/api/answers/archives.ts'
import type { ChatEntry } from '../../../src/archive/archived-chat.ts'
import type { Phase, Subject } from './kill-rounds.ts'

const CHATS = 200
const MESSAGES = 5

async function answerOf<Answer>(ended: Promise<Ended>): Promise<Answer> {
  const { exitCode, stdout, stderr } = await ended
  // A search that finds nothing ends with 1, and has its answer.
  if (exitCode !== 0 && !(exitCode === 1 && stdout.startsWith('{')))
    throw new Error(`exit code ${exitCode}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as Answer
}

/** Waits for a sign of the program's work, or for its end. */
async function untilSign(what: string, program: Cursordex, isThere: () => boolean): Promise<Cursordex> {
  await waitUntil(what, () => program.hasEnded || isThere(), { everyMs: 2 })
  return program
}

/** `archive run` on one folder, again and again: a run is complete or does not exist. */
export class KilledArchive implements Subject {
  readonly phases: readonly Phase[] = [{ what: 'an archive run', lastsMs: 300, begin: () => this.#begin() }]
  readonly #place = new Workplace()
  #names: readonly string[] = []
  #round = 0

  async check(): Promise<void> {
    expect(await this.#run('verify')).toMatchObject({ ok: true })
    const { items } = await this.#run<{ items: ArchiveRun[] }>('list')
    const names = items.map(({ name }) => name)
    expect(items.every(({ state }) => state === 'verified')).toBe(true)
    expect(this.#names.filter((name) => !names.includes(name))).toEqual([])
    expect(names.length).toBeLessThanOrEqual(this.#names.length + 1)
    // The next run clears away what the killed one left, also objects of chats that have changed since.
    this.#changeAll()
    const { name } = await this.#run<ArchiveRun>('run')
    this.#names = [...names, name]
    expect(this.#below('objects', /^..\/(.*)\.jsonl\.gz$/)).toEqual(this.#namedObjects())
    expect(await this.#run('verify')).toMatchObject({ ok: true })
  }

  remove(): Promise<void> {
    return this.#place.remove()
  }

  /** All chats have changed since the run before. */
  async #begin(): Promise<Cursordex> {
    if (this.#names.length === 0) this.#names = [(await this.#run<ArchiveRun>('run')).name]
    this.#changeAll()
    const objects = (): number => this.#below('objects', /^(.*)$/).length
    const before = objects()
    return untilSign('a new object', this.#place.start(['archive', 'run']), () => objects() > before)
  }

  #changeAll(): void {
    this.#round += 1
    fillStore(this.#place.cursor.global(), { chats: CHATS, messagesPerChat: MESSAGES, textLength: 100 + this.#round })
  }

  /** The part of each path below this folder of the archive that the pattern picks, else the whole path. */
  #below(folder: string, pattern: RegExp): string[] {
    const whole = join(this.#place.dataDir, 'archives', folder)
    const paths = existsSync(whole) ? readdirSync(whole, { recursive: true, withFileTypes: true }) : []
    const files = paths.filter((path) => path.isFile())
    return files.map(({ parentPath, name }) => relative(whole, join(parentPath, name)).replace(pattern, '$1')).sort()
  }

  #namedObjects(): string[] {
    const runs = this.#below('runs', /^(.*)$/).map((name) => join(this.#place.dataDir, 'archives', 'runs', name))
    const chats = runs.flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as { chats: ChatEntry[] }).chats)
    return [...new Set(chats.map(({ object }) => object))].sort()
  }

  #run<Answer>(act: string): Promise<Answer> {
    return answerOf<Answer>(this.#place.run(['archive', act, '--json']))
  }
}

/** `archive restore` into an empty mirror: if it is done again, the end is the same. */
export class KilledRestore implements Subject {
  readonly phases: readonly Phase[] = [{ what: 'a restore', lastsMs: 400, begin: () => this.#begin() }]
  readonly #place = new Workplace()
  readonly #root = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
  readonly #dataDir = join(this.#root, 'restored')

  async check(): Promise<void> {
    const all = { chats: CHATS, messages: CHATS * MESSAGES, damaged: [] }
    expect(await this.#run<ArchiveRestored>(...this.#restore)).toMatchObject(all)
    expect(await this.#run<ArchiveRestored>(...this.#restore)).toMatchObject({ ...all, added: 0, addedChats: 0 })
    expect(await this.#run('search', 'plum', '--json')).toMatchObject({ total: CHATS * MESSAGES })
    const [chat, message] = [CHATS - 1, MESSAGES - 1]
    const shown = await answerOf<unknown>(this.#place.run(['show', `chat-${chat}`, '--json']))
    const restored = await this.#run('show', `chat-${chat}`, '--json')
    expect(JSON.stringify(shown)).toContain(`m${chat}-${message}`)
    expect(textsIn(restored)).toEqual(textsIn(shown))
  }

  async remove(): Promise<void> {
    await this.#place.remove()
    rmSync(this.#root, { recursive: true, force: true })
  }

  get #archives(): string {
    return join(this.#place.dataDir, 'archives')
  }

  get #restore(): string[] {
    return ['archive', 'restore', '--from', this.#archives, '--json']
  }

  async #begin(): Promise<Cursordex> {
    if (!existsSync(this.#archives)) {
      fillStore(this.#place.cursor.global(), { chats: CHATS, messagesPerChat: MESSAGES, textLength: 2000 })
      await answerOf(this.#place.run(['archive', 'run', '--json']))
    }
    rmSync(this.#dataDir, { recursive: true, force: true })
    const wal = join(this.#dataDir, 'mirror.db-wal')
    const written = (): number => statSync(wal, { throwIfNoEntry: false })?.size ?? 0
    return untilSign('the first writes', this.#program(...this.#restore), () => written() > 500_000)
  }

  #program(...argv: readonly string[]): Cursordex {
    const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--data-dir', this.#dataDir]
    return new Cursordex([...argv, ...nowhere])
  }

  #run<Answer>(...argv: readonly string[]): Promise<Answer> {
    return answerOf<Answer>(this.#program(...argv).ended)
  }
}

/** All texts of an answer. */
const textsIn = (answer: unknown): string[] =>
  [...JSON.stringify(answer).matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text)

/** `purge --match`: the next one finishes it, and nothing comes back. */
export class KilledPurge implements Subject {
  readonly phases: readonly Phase[] = [{ what: 'a purge', lastsMs: 1500, begin: () => this.#begin() }]
  readonly #place: PurgePlace
  #secret = 0

  /** @param kills how many are made at most */
  constructor(kills: number) {
    this.#place = new PurgePlace(kills + 1, 30)
  }

  async check(): Promise<void> {
    const secret = secretOf(this.#secret)
    // The row is written again, so that the next pass reads it again.
    this.#place.writeSecret(this.#secret, ` Again ${this.#secret}.`)
    const { total } = await answerOf<{ total: number }>(this.#place.run(['search', `"${secret}"`, '--json']))
    // If the text was removed before the second purge, that purge removes nothing.
    expect(await answerOf(this.#place.purgeSecret(this.#secret))).toMatchObject({ messages: total > 0 ? 1 : 0 })
    await answerOf(this.#place.run(['sync', '--full', '--json']))
    for (let at = 1; at <= this.#secret; at += 1) {
      const found = [secretOf(at), wordOf(at)].flatMap((word) => findBytes(this.#place.dataDir, word))
      expect([at, found]).toEqual([at, []])
    }
    expect(await answerOf(this.#place.run(['archive', 'verify', '--json']))).toMatchObject({ ok: true })
    // Other chats are unchanged.
    expect(await answerOf(this.#place.run(['search', 'word0a7', '--json']))).toMatchObject({ total: 1 })
  }

  remove(): Promise<void> {
    return this.#place.remove()
  }

  async #begin(): Promise<Cursordex> {
    if (this.#secret === 0) await answerOf(this.#place.run(['archive', 'run', '--json']))
    this.#secret += 1
    return this.#place.place.start(['purge', '--match', '--yes'], { input: `${secretOf(this.#secret)}\n` })
  }
}
