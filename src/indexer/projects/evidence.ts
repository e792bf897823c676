import type { EvidenceWrite } from '../../mirror/write/batch.ts'
import type { ChatId } from '../../model/ids.ts'
import { normaliseRoot } from './root-uri.ts'

/**
 * How an adapter came to know where a chat belongs. Best first; the first that names a root decides. Of the chats of the
 * command line, the last two, hardly anything else speaks.
 */
const evidenceMethods = [
  'header-table',
  'workspace-identifier',
  'header-list',
  'workspace-heads',
  'open-tab',
  'agent-project',
  'transcript-folder',
  'git-repo',
  'workspace-uris',
  'request-context',
  'cli-folder',
  'cli-workspace',
] as const
export type EvidenceMethod = (typeof evidenceMethods)[number]

export interface Evidence {
  readonly method: EvidenceMethod
  /** Root URI as the source writes it. */
  readonly uri: string
}

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
