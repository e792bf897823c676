import type { EvidenceWrite } from '../../mirror/write/batch.ts'
import type { ChatId } from '../../model/ids.ts'
import { normaliseRoot } from './root-uri.ts'

/**
 * Which kind of data named the project of a chat. The best comes first, and the first that names a root decides. The
 * last two are almost the only evidence for chats of the command line.
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
  /** Root URI as the source spells it. */
  readonly uri: string
}

/** Keeps the evidence that names a root, and ranks it. The best method decides to which project a chat belongs. */
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
