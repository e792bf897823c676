import { crc32 } from 'node:zlib'
import type { EvidenceWrite, ChatMetadata } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import type { Piece } from '../../open-safely/whole-store.ts'
import { filledString, filledStringIn, type JsonRecord } from '../records/json/json-value.ts'
import { parseRow } from '../records/json/exact-json.ts'
import { readTime } from '../records/json/read-time.ts'
import { decodeHead, readFlag } from '../records/chat/decode-facts.ts'
import { headEvidence } from './decode-list.ts'
import { VALUE_OCTETS_MAX, type HeaderRow, type HeaderRows } from './read.ts'
import type { RootOf } from '../records/chat/user-folder.ts'

/** The key of the only piece, which is also the table's name. */
const PIECE = 'composerHeaders'

/** The table of heads, as one piece. An unreadable row does not affect other rows. */
export function decodeHeaderTable({ rows, isDamaged }: HeaderRows, rootOf: RootOf): Piece {
  const heads: ChatMetadata[] = []
  const evidence: EvidenceWrite[] = []
  let issue: IssueReason | null = isDamaged ? 'unreadable-page' : null
  for (const row of rows) {
    const decoded = decodeHeaderRow(row, rootOf)
    issue ??= decoded.issue
    if (decoded.head === null) continue
    heads.push(decoded.head)
    evidence.push(...decoded.evidence)
  }
  const octets = rows.reduce((sum, row) => sum + row.octets, 0)
  const checksum = isDamaged ? null : crc32(JSON.stringify(evidence.map(({ root }) => root.uri)), checksumOf(rows))
  return { key: PIECE, octets, checksum, chats: [], heads, evidence, issue }
}

interface DecodedRow {
  readonly head: ChatMetadata | null
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
}

function decodeHeaderRow(row: HeaderRow, rootOf: RootOf): DecodedRow {
  const { record, issue } = readValue(row)
  const id = filledString(row.composerId) ?? filledStringIn(record, 'composerId')
  if (id === null) return { head: null, evidence: [], issue }
  const chatId = asChatId(id)
  const head = withColumns(decodeHead(record, chatId, 'header-table'), row, record)
  const evidence = headEvidence(record, chatId, 'header-table')
  return { head, evidence: evidence.length > 0 ? evidence : columnEvidence(row, chatId, rootOf), issue }
}

/** The column contains only a workspace's id; the root comes from that workspace's folder. */
function columnEvidence({ workspaceId }: HeaderRow, chatId: ChatId, rootOf: RootOf): readonly EvidenceWrite[] {
  const id = filledString(workspaceId)
  const uri = id === null ? null : rootOf(id)
  return uri === null ? [] : weighEvidence(chatId, [{ method: 'header-table', uri }], { isOnly: true })
}

const emptyRecord: JsonRecord = {}

function readValue({ value, octets }: HeaderRow): { readonly record: JsonRecord; readonly issue: IssueReason | null } {
  if (value === null) return { record: emptyRecord, issue: octets > VALUE_OCTETS_MAX ? 'too-large' : null }
  const parsed = parseRow(value)
  return parsed.kind === 'issue'
    ? { record: emptyRecord, issue: parsed.reason }
    : { record: parsed.record, issue: null }
}

/** The columns are written with every change, the value only now and then. */
function withColumns(head: ChatMetadata, row: HeaderRow, record: JsonRecord): ChatMetadata {
  const isAlternative = record['isBestOfNSubcomposer'] === true
  return {
    ...head,
    createdAtMs: readTime(row.createdAt) ?? head.createdAtMs,
    // Some rows have no time of their last change; then the time by which they are sorted is used.
    updatedAtMs: readTime(row.lastUpdatedAt) ?? head.updatedAtMs ?? readTime(row.recency),
    isArchived: readFlag(row.isArchived) ?? head.isArchived,
    isSubagent: head.isSubagent ?? (isAlternative ? null : readFlag(row.isSubagent)),
  }
}

function checksumOf(rows: readonly HeaderRow[]): number {
  return rows.reduce((sum, { value, ...columns }) => {
    const named = crc32(Object.values(columns).map(String).join('\0'), sum)
    return value === null ? named : crc32(value, named)
  }, 0)
}
