import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ArchiveRun, PurgeReport } from '../../src/api/answers/archives.ts'
import { openReader } from '../../src/mirror/open.ts'
import { countBars, countLost, isDone } from '../../src/mirror/purge/bars.ts'
import { headers, type Store } from './cursor.ts'
import { findBytes } from './purge-world.ts'
import { archiveAll } from './restored-daemon.ts'
import { World } from './world.ts'

/** A time of one morning. */
export const minute = (count: number): string => new Date(Date.UTC(2026, 1, 1, 9, count)).toISOString()

/** What a mirror knows of purges. */
export function purgeStateOf(mirrorPath: string) {
  const mirror = openReader(mirrorPath)
  try {
    mirror.prepare('attach ? as user').run(join(dirname(mirrorPath), 'user.db'))
    return { bars: countBars(mirror), lostBars: countLost(mirror), isDone: isDone(mirror, 'bytes') }
  } finally {
    mirror.close()
  }
}

/** A world in which things are purged. */
export class PurgeHome {
  readonly world: World

  private constructor(world: World) {
    this.world = world
  }

  static async open(): Promise<PurgeHome> {
    return new PurgeHome(await World.open())
  }

  get folder(): string {
    return this.world.settings.dataDir
  }

  get archives(): string {
    return this.world.settings.archives.dir
  }

  get store(): Store {
    return this.world.home.global()
  }

  /** A chat with these texts, by the user and the assistant in turn, a minute apart. */
  chat(id: string, texts: readonly string[], more: object = {}): void {
    const { store } = this
    const ids = texts.map((_, at) => `${id}${at + 1}`)
    store.chat(id, { name: id, fullConversationHeadersOnly: headers(ids), ...more })
    for (const [at, text] of texts.entries()) {
      store.message(id, `${id}${at + 1}`, { type: 1 + (at % 2), text, createdAt: minute(at + 1) })
    }
  }

  /** Reads Cursor, every value. */
  pass(): Promise<void> {
    return this.world.sync(true)
  }

  purge(scope: object): Promise<PurgeReport> {
    this.world.home.close()
    return this.world.post<PurgeReport>('/api/purge', { ...scope, dryRun: false })
  }

  look(scope: object): Promise<PurgeReport> {
    return this.world.post<PurgeReport>('/api/purge', scope)
  }

  /** Ids of the messages of a chat in the mirror; none if there is no such chat. */
  async messages(chat: string): Promise<string[]> {
    const { status } = await this.world.request(`/api/chats/${chat}`)
    return status === 404 ? [] : (await this.world.thread(chat)).map(([id]) => id)
  }

  /** Archives what Cursor has now. */
  async archive(): Promise<ArchiveRun> {
    await this.pass()
    return this.archiveAsItIs()
  }

  /** Archives what the mirror has. */
  archiveAsItIs(): Promise<ArchiveRun> {
    return archiveAll(this.world)
  }

  /** Ids of the messages that the archives bring back into an empty mirror, and of chats without messages. */
  async archived(): Promise<string[]> {
    const empty = await World.open()
    try {
      await empty.post('/api/archives/newest/restore', { from: this.archives })
      const { items } = await empty.get<{ items: readonly { id: string }[] }>(
        '/api/chats?limit=200&subagents=true&includeEmpty=true',
      )
      const found: string[] = []
      for (const { id } of items) {
        const ids = (await empty.thread(id)).map(([message]) => message)
        found.push(...(ids.length === 0 ? [id] : ids))
      }
      return found.sort()
    } finally {
      await empty.remove()
    }
  }

  /** Whether every byte of the archives is as their manifests say. */
  async isSound(): Promise<boolean> {
    const { items } = await this.world.get<{ items: readonly ArchiveRun[] }>('/api/archives')
    for (const { name } of items) {
      const { ok } = await this.world.post<{ ok: boolean }>(`/api/archives/${name}/verify`)
      if (!ok) return false
    }
    return items.length > 0
  }

  /** Loses everything except the archives, in Cursor too. */
  async wipe(): Promise<void> {
    this.store.db.exec('delete from cursorDiskKV')
    this.world.home.close()
    const path = this.world.mirrorPath
    await this.world.restart(() => {
      for (const ending of ['', '-wal', '-shm', '-clean']) rmSync(`${path}${ending}`, { force: true })
    })
  }

  /** The files of the data folder with this text. */
  filesWith(text: string): string[] {
    return findBytes(this.folder, text)
  }

  remove(): Promise<void> {
    return this.world.remove()
  }
}
