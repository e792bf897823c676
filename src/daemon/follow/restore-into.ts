import { UserError } from '../../model/user-error.ts'
import { damageIn, explainError } from './explain-error.ts'
import type { Indexing } from './indexing.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult } from '../../engine/restore.ts'

/** Of what goes wrong this is not the mirror's, nor the disk's under it. */
const isOfArchive = ({ code }: UserError): boolean => code.startsWith('archive-') || code === 'bad-map'

/**
 * Has the indexing thread bring back what an archive remembers; resolves once all of it can be found.
 * @throws UserError where the archive cannot be read, or the mirror not written
 */
export async function restoreIntoMirror(
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
    if (error instanceof UserError && isOfArchive(error)) throw error
    const trouble = explainError(error, mirrorPath)
    const damage = damageIn(trouble)
    if (damage !== 'none') indexing.onDamage(damage)
    if (trouble.code === 'stopped' || trouble.code === 'disk-full') throw trouble
    const why = error instanceof Error ? error.message : String(error)
    throw new UserError(
      trouble.code,
      `The archive could not be restored: ${why}.`,
      'Ask for it again; it goes on where it stood.',
    )
  }
}
