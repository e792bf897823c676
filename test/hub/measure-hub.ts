import { statSync } from 'node:fs'
import type { Store } from '../helpers/cursor.ts'
import type { HubWorld } from './hub-world.ts'

export interface HubMeasures {
  readonly messages: number
  /** Messages a second, for each machine and the reader. */
  readonly pushRate: number
  readonly pullRate: number
  /** Megabytes: the text as JSON in the reader's mirror, the objects, all tables in PostgreSQL, and the reader's mirror. */
  readonly textMb: number
  readonly objectsMb: number
  readonly postgresMb: number
  readonly mirrorMb: number
  /** Milliseconds of a push and a pull without a change. */
  readonly idlePushMs: number
  readonly idlePullMs: number
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await act()
  return performance.now() - startedAt
}

/** Machines with the same amount of messages push one after the other, and one reader pulls all. */
export async function measureHub(world: HubWorld, count: number, fill: (store: Store) => void): Promise<HubMeasures> {
  const reader = world.machine('reader')
  await reader.sync()
  let [pushMs, idlePushMs] = [0, 0]
  for (let at = 0; at < count; at += 1) {
    const machine = world.machine(`machine-${at}`)
    const store = machine.home.global()
    fill(store)
    // Chats of their own.
    store.db.exec(
      `update cursorDiskKV set key = replace(key, 'chat-', 'chat-${at}-'), value = replace(value, 'chat-', 'chat-${at}-')`,
    )
    store.close()
    await machine.sync()
    pushMs += await timed(() => machine.push())
    idlePushMs = await timed(() => machine.push())
    machine.remove()
  }
  const pullMs = await timed(() => reader.pull())
  const idlePullMs = await timed(() => reader.pull())
  const one = (sql: string): number => reader.mirror.prepare<[], number>(sql).pluck().get() ?? 0
  const messages = one('select count(*) from messages')
  const [size] = await world.server.sql<{ objects: string; all: string }>(
    `select sum(octet_length(object)) as objects, pg_total_relation_size('cursordex.chats') as all from cursordex.chats`,
    world.url,
  )
  return {
    messages,
    pushRate: Math.round((messages / pushMs) * 1000),
    pullRate: Math.round((messages / pullMs) * 1000),
    textMb: megabytes(one('select sum(length(cast(parts as blob))) from bodies')),
    objectsMb: megabytes(Number(size?.objects)),
    postgresMb: megabytes(Number(size?.all)),
    mirrorMb: megabytes(statSync(reader.path).size),
    idlePushMs: Math.round(idlePushMs),
    idlePullMs: Math.round(idlePullMs),
  }
}
