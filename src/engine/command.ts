import { discoverSources } from '../indexer/discover.ts'
import type { Source } from '../indexer/source.ts'
import { noteIfDamaged, readMark } from '../mirror/damage/clean-mark.ts'
import { isFollowed } from '../mirror/index/index-file.ts'
import { openReader, type Mirror } from '../mirror/open.ts'
import { leavesOut } from '../mirror/projects/place-chats.ts'
import { hasAllBars } from '../mirror/purge/bars.ts'
import { listRead, type ReadSource } from '../mirror/sources/sources.ts'
import { isOfThisVersion } from '../mirror/schema.ts'
import { countUncounted, hasEstimates, countUnplaced } from '../mirror/write/write.ts'
import { newestReference } from '../mirror/write/references.ts'
import type { PassOrder } from '../model/pass.ts'
import { UserError } from '../model/user-error.ts'
import type { Settings } from '../settings.ts'
import { lazyReader, openEngine, type EngineContext, type LazyReader } from './engine.ts'
import { Executor } from './executor/executor.ts'
import { sourceReasons } from './source-reasons.ts'
import { writerOnDemand, type Threads } from './writer/on-demand.ts'
import { writerSetup, type WriterSetup } from './writer/writer.ts'

export interface CommandContext {
  readonly version: string
  /** The machine's time zone. */
  readonly zone: () => string
  /** Prints a note, for example that reading takes long. */
  readonly note: (text: string) => void
  readonly threads?: Threads
  readonly executor?: (mirrorPath: string, reader: LazyReader) => EngineContext['executor']
}

export type CommandEngine = ReturnType<typeof openCommandEngine>

/** Questions are answered in this process: starting another takes longer than most answers. */
const executorOf = (path: string, reader: LazyReader): Executor =>
  new Executor(path, { reader: () => reader.open(), onError: (error) => noteIfDamaged(path, error) })

const nothing = { changed: 0, added: 0, gone: 0 }

/** The engine of a command that works without a daemon. */
export function openCommandEngine(settings: Settings, context: CommandContext) {
  const setup = writerSetup(settings)
  const path = setup.mirrorPath
  const onDemand = writerOnDemand(setup, context.note, context.threads)
  const { writer, index } = onDemand
  const reader = lazyReader(path, {})
  const executor = (context.executor ?? executorOf)(path, reader)
  let reasons: readonly string[] = []
  let unreported = nothing

  const read = async (order: Omit<PassOrder, 'id'>) => {
    const sources = discoverSources(setup).map(({ id }) => ({ id, ...order }))
    reasons = []
    try {
      const outcome = await writer.act('run', { sources, backlogMs: Infinity })
      reasons = sourceReasons(outcome.ends)
      await index.follow()
      return outcome
    } catch (error) {
      if (error instanceof UserError && error.code === 'bars-lost') reasons = [`${error.message} ${error.hint}`]
      throw error
    }
  }
  const engine = openEngine(settings, {
    version: context.version,
    zone: context.zone,
    now: Date.now,
    executor,
    writer,
    index,
    async readAll(order) {
      const before = unreported
      const { changed, added, gone, ends } = await read(order)
      unreported = nothing
      return { changed: before.changed + changed, added: before.added + added, gone: before.gone + gone, ends }
    },
    mirror: () => reader.open(),
    renewReaders: () => reader.close(),
    publish: () => undefined,
    log: () => undefined,
  })
  return {
    engine,
    reader,
    onDemand,
    /** Why some sources could not be read at the last attempt, as sentences. */
    get reasons(): readonly string[] {
      return reasons
    },
    /**
     * Reads what is new, if there is anything. What is mirrored can be read also if Cursor may not be. The next sync counts
     * it too.
     * @throws UserError `already-running` if a daemon, or another command, has the folder
     */
    async catchUp(): Promise<void> {
      if (isAllRead(setup)) return onDemand.waitLonger()
      try {
        unreported = await read({ depth: 'tail' })
      } catch (error) {
        if (!(error instanceof UserError && error.code === 'bars-lost')) throw error
      } finally {
        await onDemand.close()
      }
      onDemand.waitLonger()
    },
    async close(): Promise<void> {
      await engine.close()
      reader.close()
      await onDemand.close()
    },
  }
}

/**
 * Whether a pass over what is new would find nothing to do: the mirror is of this version, was closed in order, waits for
 * nothing, and has read every store as it is now. It only reads the mirror, and of Cursor only what `stat` says. False if
 * that cannot be told: the writer says why.
 */
function isAllRead(setup: WriterSetup): boolean {
  if (readMark(setup.mirrorPath) !== 'clean') return false
  let mirror: Mirror | null = null
  try {
    mirror = openReader(setup.mirrorPath, { isIndexWanted: false })
    return (
      isOfThisVersion(mirror) &&
      leavesOut(mirror, setup.excludedProjects ?? []) &&
      hasEstimates(mirror) === (setup.isEstimating ?? true) &&
      countUncounted(mirror) + countUnplaced(mirror) === 0 &&
      areUnchanged(discoverSources(setup), listRead(mirror), newestReference(mirror)) &&
      isFollowed(mirror) &&
      hasAllBars(mirror, setup.archiveDir ?? '')
    )
  } catch {
    return false
  } finally {
    mirror?.close()
  }
}

/** @param newest the number of the last reference in a message to another value */
function areUnchanged(sources: readonly Source[], read: readonly ReadSource[], newest: number): boolean {
  const known = new Map(read.map((each) => [each.id, each]))
  const isUnchanged = (source: Source): boolean => {
    const before = known.get(source.id)
    known.delete(source.id)
    if (before?.decoder !== source.decoder || before.hasMissed === 1) return false
    const signature = source.signature()
    if (signature === null || before.state !== 'ok') return signature === null && before.state === 'missing'
    if (source.readsReferences === true) return newest <= (before.watermark ?? 0)
    const sinceMs = Date.now() - (before.countedAtMs ?? -Infinity)
    return signature === before.signature || (sinceMs >= 0 && sinceMs < (source.everyMs ?? 0))
  }
  return sources.every(isUnchanged) && [...known.values()].every(({ state }) => state === 'missing')
}
