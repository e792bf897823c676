import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { Position } from '../../../../mirror/write/batch.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import * as held from '../../../../mirror/sources/source-state.ts'
import type { RowRef } from '../read/read.ts'

/** Where the next pass goes on. @param top the newest row seen, all that is dirty up to it being read */
export function nextPosition(
  { identity, signature }: Pick<OpenFile, 'identity' | 'signature'>,
  { mirror, num }: { readonly mirror: Mirror; readonly num: number },
  top: RowRef | null,
  before: held.HeldPosition,
): Position {
  // Gone again before it could be read: a position may only stand on what is held.
  if (top !== null && !held.isRowKnown(mirror, num, top.key)) {
    return { identity, signature, watermark: before.watermark ?? 0, watermarkKey: before.watermarkKey }
  }
  return { identity, signature, watermark: top?.rowid ?? before.watermark ?? 0, watermarkKey: top?.key ?? null }
}
