import type { ChatMetadata, EvidenceWrite } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { asRecord, filledStringIn, listIn, recordIn, type JsonRecord } from '../records/json/json-value.ts'
import { decodeHead } from '../records/chat/decode-facts.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence, type EvidenceMethod } from '../../projects/evidence.ts'
import { readFileUri, readWorkspaceUri } from '../records/chat/decode-evidence.ts'

/**
 * The list of heads: `{allComposers: […]}`, or an array. If a chat has two heads, the first is used. Null if the value
 * is neither an object nor an array.
 */
export function decodeHeaderList(value: unknown): ListContent | null {
  const data = asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : listIn(data, 'allComposers')
  const heads = new Map<ChatId, ChatMetadata>()
  const evidence: ListContent['evidence'][number][] = []
  for (const entry of entries.map(asRecord)) {
    const id = filledStringIn(entry, 'composerId')
    if (entry === null || id === null || heads.has(asChatId(id))) continue
    const chatId = asChatId(id)
    heads.set(chatId, decodeHead(entry, chatId, 'header-list'))
    evidence.push(...headEvidence(entry, chatId, 'header-list'))
  }
  return { heads: [...heads.values()], evidence, issue: null }
}

/** What a list, or the items about projects, say about chats. */
export interface ListContent {
  readonly heads: readonly ChatMetadata[]
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
}

export const emptyList: ListContent = { heads: [], evidence: [], issue: null }

/** The two lists contain the same heads; each list's name is also the method of its evidence. */
type HeadList = Extract<EvidenceMethod, 'header-list' | 'header-table'>

/**
 * Where the chat belongs according to its head; otherwise where its agent works, which heads of recent builds contain.
 */
export function headEvidence(head: JsonRecord, chatId: ChatId, list: HeadList): readonly EvidenceWrite[] {
  const place = recordIn(recordIn(head, 'agentLocation'), 'environment')
  const uri = readWorkspaceUri(head) ?? readFileUri(place?.['uri'])
  return uri === null ? [] : weighEvidence(chatId, [{ method: list, uri }], { isOnly: true })
}
