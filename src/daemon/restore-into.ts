import { Trouble } from '../model/trouble.ts'
import { damageIn, explainTrouble } from './explain-trouble.ts'
import type { Indexing } from './indexing.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult } from './restore-orders.ts'

/** Of what goes wrong this is not the mirror's, nor the disk's under it. */
const isOfArchive = ({ code }: Trouble): boolean => code.startsWith('archive-') || code === 'bad-map'

/**
 * Has the indexing thread bring back what an archive remembers; resolves once all of it can be found.
 * @throws Trouble where the archive cannot be read, or the mirror not written
 */
export async function restoreInto(
  indexing: Indexing,
  mirrorPath: string,
  order: RestoreOrder,
  onProgress: (progress: RestoreProgress) => void,
): Promise<RestoreResult> {
  await indexing.whenSound()
  try {
    const result = await indexing.writer.restore(order, ({ progress, backlog }) => {
      onProgress(progress)
      indexing.noteBacklog(backlog)
    })
    indexing.onMessages(result.added)
    await indexing.whenDrained()
    return result
  } catch (error) {
    if (error instanceof Trouble && isOfArchive(error)) throw error
    const trouble = explainTrouble(error, mirrorPath)
    const damage = damageIn(trouble)
    if (damage !== 'none') indexing.onDamage(damage)
    if (trouble.code === 'stopped' || trouble.code === 'disk-full') throw trouble
    const why = error instanceof Error ? error.message : String(error)
    throw new Trouble(
      trouble.code,
      `The archive could not be restored: ${why}.`,
      'Ask for it again; it goes on where it stood.',
    )
  }
}
