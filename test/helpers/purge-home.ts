import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { listRunNames } from '../../src/api/archives/manifest-files.ts'
import { openRun, readRun } from '../../src/api/archives/open-run.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { CursorHome, headers } from './cursor.ts'
import { archivesHere } from './archives-here.ts'
import { Indexer } from './in-process.ts'
import { PurgeHere } from './purge-world.ts'
import { waitUntil } from './wait-until.ts'
import type { ArchiveRun } from '../../src/api/http/schemas/archives.ts'

/** A time of one morning. */
export const minute = (count: number): string => new Date(Date.UTC(2026, 1, 1, 9, count)).toISOString()

/** A Cursor home, its mirror and its archives. The mirror is open only during `ask`. */
export class PurgeHome {
  readonly #home = new CursorHome()
  readonly store = this.#home.global()
  readonly #indexer = new Indexer(this.#home.userDir)

  get folder(): string {
    return this.#indexer.folder
  }

  /** A chat with these texts, by the user and the assistant in turn, a minute apart. */
  chat(id: string, texts: readonly string[], more: object = {}): void {
    const ids = texts.map((_, at) => `${id}${at + 1}`)
    this.store.chat(id, { name: id, fullConversationHeadersOnly: headers(ids), ...more })
    for (const [at, text] of texts.entries()) {
      this.store.message(id, `${id}${at + 1}`, { type: 1 + (at % 2), text, createdAt: minute(at + 1) })
    }
  }

  /** Reads Cursor. */
  pass(): void {
    this.ask((indexer) => indexer.pass('full'))
  }

  /** Ids of the messages of a chat in the mirror. */
  messages(chatId: string): string[] {
    return this.ask((indexer) => indexer.thread(chatId).map(([id]) => id))
  }

  ask<Answer>(question: (indexer: Indexer) => Answer): Answer {
    this.#indexer.restart()
    try {
      return question(this.#indexer)
    } finally {
      this.#indexer.mirror.close()
    }
  }

  /** Loses everything except the archives. */
  wipe(): void {
    for (const ending of ['', '-wal', '-shm']) rmSync(`${this.#indexer.path}${ending}`, { force: true })
    openWriter(this.#indexer.path).close()
  }

  get purging(): PurgeHere {
    return new PurgeHere(this.folder)
  }

  async archive(): Promise<ArchiveRun | null> {
    const acts = archivesHere(this.folder, this.#indexer.path)
    const { name } = acts.run(null, 'UTC')
    await waitUntil('the archive to be made', () => Promise.resolve(acts.get(name)?.state !== 'running'))
    return acts.get(name)
  }

  /** Archives what Cursor has now. @throws Error if the run fails */
  async readAndArchive(): Promise<void> {
    this.pass()
    const run = await this.archive()
    if (run?.state !== 'verified') throw new Error(`the archive is ${run?.state ?? 'not there'}`)
  }

  /** Ids of the messages in the newest run, and of chats without messages. */
  async archived(): Promise<string[]> {
    const found: string[] = []
    const dir = join(this.folder, 'archives')
    const [name = ''] = listRunNames(dir).slice(-1)
    for await (const { chat } of readRun(openRun(dir, name))) {
      if (chat.kind !== 'sound') throw new Error('a chat of the archive cannot be read')
      found.push(...(chat.places.length === 0 ? [chat.chat.id] : chat.places.map(({ id }) => id)))
    }
    return found.sort()
  }

  remove(): void {
    this.#indexer.remove()
    this.#home.remove()
  }
}
