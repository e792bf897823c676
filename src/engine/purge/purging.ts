import { listRunNames } from '../../api/archives/archive-files.ts'
import type { ApiContext, PurgeActs } from '../../api/context.ts'
import type { PurgeReport } from '../../api/answers/archives.ts'
import { acceptLost, isDone, noteStage } from '../../mirror/purge/bars.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { Archives } from '../archives/archives.ts'
import { mirrorPath } from '../data-folder.ts'
import type { EngineContext } from '../engine.ts'
import type { Sharing } from '../hub/sharing.ts'
import { restoreArchive } from '../restore.ts'
import type { MirrorMaintenance } from '../writer/maintenance.ts'

export interface PurgingParts extends Pick<EngineContext, 'renewReaders' | 'log' | 'writer'> {
  readonly executor: Pick<EngineContext['executor'], 'run'>
  readonly archives: Pick<Archives, 'alone' | 'outOfReach'>
  readonly sharing: Pick<Sharing, 'sendPurges'>
  sync: ApiContext['sync']
  readonly index: Pick<EngineContext['index'], 'forgetWords'>
}

export interface Purging extends PurgeActs {
  /** Finishes purges that were interrupted. Call it when the mirror is sound. */
  resume(): Promise<void>
}

const ALL_ARCHIVES = { name: 'newest', from: null, map: {} }

/** Runs one purge at a time, from the request to the search of all files. */
export function openPurging(settings: Pick<Settings, 'dataDir' | 'archives'>, parts: PurgingParts): Purging {
  const { executor, archives, sharing, sync, writer, index, renewReaders, log } = parts
  const { dir } = settings.archives
  let isBusy = false

  const alone = async <Outcome>(act: () => Promise<Outcome>): Promise<Outcome> => {
    isBusy = true
    return archives.alone(act).finally(() => (isBusy = false))
  }

  /** Reads into the mirror what only the archives have: they are rewritten from what the mirror has. */
  const restore = async (): Promise<void> => {
    if (listRunNames(dir).length === 0) return
    await restoreArchive(
      ALL_ARCHIVES,
      dir,
      (part) => writer.act('restore', part),
      () => undefined,
    )
  }

  /** All that follows the removal from the mirror. @param match is searched for in all files at the end */
  const finish = async (match: string | null): Promise<Pick<PurgeReport, 'archived' | 'unread' | 'found'>> => {
    const path = mirrorPath(settings.dataDir)
    const { archived, unread } = await executor.run('purge-archives', { dir, mirrorPath: path, match })
    const missing = archives.outOfReach.map((name) => `archive ${name} (there is no archive in ${dir})`)
    const isForgotten = await index.forgetWords()
    const { isDone: isCompact } = await writer.act('purge', { act: 'compact' })
    if (!isForgotten || !isCompact) throw new Error('another program reads the mirror')
    if (match === null) return { archived, unread: [...unread, ...missing], found: null }
    const scanned = await executor.run('purge-search', { folders: [settings.dataDir, dir], mirrorPath: path, match })
    return { archived, unread: [...unread, ...missing, ...scanned.unread], found: scanned.found }
  }

  const purge = async (scope: PurgeScope, isDryRun: boolean): Promise<PurgeReport> => {
    if (!isDryRun) {
      // What is not known yet cannot be kept out.
      await sync({ full: false })
      await restore()
    }
    const { plan } = await writer.act('purge', { act: 'remove', scope, isDryRun })
    if (plan === null) throw new Error('the writer did not say what it removed')
    if (isDryRun) return { ...plan, dryRun: true, archived: 0, unread: [], found: null }
    renewReaders()
    // The purge does not wait for a network.
    void sharing.sendPurges().catch((error: unknown) => {
      log('warn', `The hub does not know of the purge yet: ${whyOf(error)} The next push tells it.`)
    })
    // After another purge, other chats may contain the text.
    const isOfText = scope.chatIds === null && scope.projectUris === null && scope.beforeMs === null
    const finished = await finish(isOfText ? scope.match : null).catch((error: unknown) => {
      const text = `Half of the purge is done: it is removed from the mirror and stays out. The archives and the mirror’s file may still contain it: ${whyOf(error)}`
      throw new UserError('purge-half-done', text, 'When this is solved, purge again.', { cause: error })
    })
    log('info', `A purge removed ${plan.messages} messages of ${plan.chatCount} chats.`)
    return { ...plan, dryRun: false, ...finished }
  }

  const resume = async (): Promise<void> => {
    try {
      // A purge that runs now does it too.
      if ((await writer.act('purge', { act: 'open' })).isDone || isBusy) return
      await alone(async () => {
        await restore()
        await finish(null)
      })
      log('info', 'An interrupted purge is finished.')
    } catch (error) {
      if (error instanceof UserError && error.code === 'stopped') return
      log('warn', `An interrupted purge could not be finished: ${whyOf(error)} The next start tries again.`)
    }
  }

  return {
    get isBusy() {
      return isBusy
    },
    purge: (scope, isDryRun) => alone(() => purge(scope, isDryRun)),
    acceptLostBars: async () => void (await writer.act('purge', { act: 'accept' })),
    resume,
  }
}

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}

/** open: finishes what an interrupted purge left in the rows. compact: the last step. accept: goes on without missing bars. */
export type MirrorPurgeOrder =
  | { readonly act: 'open' | 'compact' | 'accept' }
  | { readonly act: 'remove'; readonly scope: PurgeScope; readonly isDryRun: boolean }

export type MirrorPurgeOutcome = Awaited<ReturnType<typeof purgeMirror>>

/**
 * What the mirror's only writer does for a purge.
 * @returns plan: what is removed from the mirror; null after other acts. isDone: false if archives or the mirror's file may
 *   still contain bytes of what was removed
 */
export async function purgeMirror(kept: MirrorMaintenance, order: MirrorPurgeOrder) {
  // The writer's thread needs them seldom, and the main thread never.
  const { compact, purgeRows } = await import('../../mirror/purge/purge-rows.ts')
  const { dropSetAside } = await import('../../mirror/damage/replace-mirror.ts')
  const plan = order.act === 'remove' ? purgeRows(kept.db, order.scope, order.isDryRun, Date.now()) : null
  if (order.act === 'remove' && !order.isDryRun) {
    dropSetAside(kept.path)
    // The connection remembers words of before, and its settings are for removing only.
    kept.close()
  }
  const { db } = kept
  if (order.act === 'accept') acceptLost(db)
  if (order.act === 'compact' && compact(db)) noteStage(db, 'bytes')
  return { plan, isDone: isDone(db, 'bytes') }
}
