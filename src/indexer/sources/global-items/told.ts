import type { EvidenceWrite, ChatMetadata } from '../../../mirror/write/batch.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { EvidenceMethod } from '../../decoded.ts'
import { weighEvidence } from '../../projects/projects.ts'
import { readFileUri, readWorkspaceUri } from '../records/chat/decode-evidence.ts'
import { recordIn } from '../records/json/json-value.ts'
import type { JsonRecord } from '../records/json/json-value.ts'

/** What a list or a pointer tells of chats. */
export interface Told {
  readonly heads: readonly ChatMetadata[]
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
}

export const nothingTold: Told = { heads: [], evidence: [], issue: null }

/** The two lists have the same heads; each list's name is also that of its evidence. */
export type HeadList = Extract<EvidenceMethod, 'header-list' | 'header-table'>

/** Where the head says its chat belongs; else where its agent works, as heads of recent builds say. */
export function headEvidence(head: JsonRecord, chatId: ChatId, list: HeadList): readonly EvidenceWrite[] {
  const place = recordIn(recordIn(head, 'agentLocation'), 'environment')
  const uri = readWorkspaceUri(head) ?? readFileUri(place?.['uri'])
  return uri === null ? [] : weighEvidence(chatId, [{ method: list, uri }], { isOnly: true })
}
