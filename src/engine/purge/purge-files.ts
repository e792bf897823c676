import { existsSync } from 'node:fs'
import { explainDisk, writeBars } from '../../api/archives/archive-files.ts'
import { purgeArchives, type ArchivesOrder } from '../../api/archives/purge-archive.ts'
import { openReader } from '../../mirror/open.ts'
import { openBars } from '../../mirror/purge/user-file.ts'
import { takeArchiveLock } from '../archives/archive-job.ts'

/** @throws UserError `archive-busy` if another program writes to the archive folder, or what its disk reports */
export async function purgeFiles({ mirrorPath, ...order }: ArchivesOrder & { readonly mirrorPath: string }) {
  const { dir } = order
  if (!existsSync(dir)) return { objects: 0, messages: 0, runs: [], damaged: [] }
  const lock = takeArchiveLock(dir)
  const [mirror, user] = [openReader(mirrorPath), openBars(mirrorPath)]
  try {
    const done = await purgeArchives(order, mirror, user)
    await writeBars(dir, mirrorPath)
    return done
  } catch (error) {
    throw explainDisk(error)
  } finally {
    user.close()
    mirror.close()
    lock.release()
  }
}
