import type { HeadWrite, EvidenceWrite } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { asRecord, filledStringIn, listIn, recordIn, type JsonRecord } from '../records/json/json-value.ts'
import { decodeHead } from '../records/chat/decode-facts.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence, type EvidenceMethod } from '../../projects/evidence.ts'
import { readFileUri, readWorkspaceUri } from '../records/chat/decode-evidence.ts'

/**
 * The list of heads: `{allComposers: […]}`, or a bare array. Of two heads of one chat the first counts. Null where it
 * is neither object nor array.
 */
export function decodeHeaderList(value: unknown): Told | null {
  const data = asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : listIn(data, 'allComposers')
  const heads = new Map<ChatId, HeadWrite>()
  const evidence: Told['evidence'][number][] = []
  for (const entry of entries.map(asRecord)) {
    const id = filledStringIn(entry, 'composerId')
    if (entry === null || id === null || heads.has(asChatId(id))) continue
    const chatId = asChatId(id)
    heads.set(chatId, decodeHead(entry, chatId, 'header-list'))
    evidence.push(...headEvidence(entry, chatId, 'header-list'))
  }
  return { heads: [...heads.values()], evidence, issue: null }
}

/** What a list or a pointer tells of chats. */
export interface Told {
  readonly heads: readonly HeadWrite[]
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
}

export const nothingTold: Told = { heads: [], evidence: [], issue: null }

/** The two lists have the same heads; each list's name is also that of its evidence. */
type HeadList = Extract<EvidenceMethod, 'header-list' | 'header-table'>

/** Where the head says its chat belongs; else where its agent works, as heads of recent builds say. */
export function headEvidence(head: JsonRecord, chatId: ChatId, list: HeadList): readonly EvidenceWrite[] {
  const place = recordIn(recordIn(head, 'agentLocation'), 'environment')
  const uri = readWorkspaceUri(head) ?? readFileUri(place?.['uri'])
  return uri === null ? [] : weighEvidence(chatId, [{ method: list, uri }], { isOnly: true })
}
