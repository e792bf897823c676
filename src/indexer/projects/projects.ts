import type { EvidenceWrite } from '../../mirror/write/batch.ts'
import type { ChatId } from '../../model/ids.ts'
import { evidenceMethods, type Evidence } from '../decoded.ts'
import { normaliseRoot } from './root-uri.ts'

/** Evidence that names a root, ranked: the best method decides to which project a chat belongs. */
export function weighEvidence(
  chatId: ChatId,
  evidence: readonly Evidence[],
  { isOnly }: Pick<EvidenceWrite, 'isOnly'>,
): EvidenceWrite[] {
  return evidence.flatMap(({ method, uri }) => {
    const root = normaliseRoot(uri)
    return root === null ? [] : [{ chatId, method, rank: evidenceMethods.indexOf(method) * 10, root, isOnly }]
  })
}
