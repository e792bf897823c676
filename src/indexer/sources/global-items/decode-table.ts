import { crc32 } from 'node:zlib'
import type { EvidenceWrite, ChatMetadata } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/projects.ts'
import type { Piece } from '../../open-safely/whole-store.ts'
import { filledString, filledStringIn } from '../records/json/json-value.ts'
import { parseRow } from '../records/json/parse-row.ts'
import type { JsonRecord } from '../records/json/json-value.ts'
import { readTime } from '../records/json/read-time.ts'
import { decodeHead, readFlag } from '../records/chat/decode-head.ts'
import { headEvidence } from './told.ts'
import { VALUE_OCTETS_MAX, type HeaderRow, type HeaderRows } from './read.ts'
import type { RootOf } from './workspace-roots.ts'

/** The table's name is also that of its one piece. */
const PIECE = 'composerHeaders'

/** The table of heads, as one piece. A row that cannot be read costs no other. */
export function decodeHeaderTable({ rows, isDamaged }: HeaderRows, rootOf: RootOf): Piece {
  const heads: ChatMetadata[] = []
  const evidence: EvidenceWrite[] = []
  let issue: IssueReason | null = isDamaged ? 'unreadable-page' : null
  for (const row of rows) {
    const told = decodeHeaderRow(row, rootOf)
    issue ??= told.issue
    if (told.head === null) continue
    heads.push(told.head)
    evidence.push(...told.evidence)
  }
  const octets = rows.reduce((sum, row) => sum + row.octets, 0)
  const checksum = isDamaged ? null : crc32(JSON.stringify(evidence.map(({ root }) => root.uri)), checksumOf(rows))
  return { key: PIECE, octets, checksum, chats: [], heads, evidence, issue }
}

interface ToldByRow {
  readonly head: ChatMetadata | null
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
}

function decodeHeaderRow(row: HeaderRow, rootOf: RootOf): ToldByRow {
  const { record, issue } = readValue(row)
  const id = filledString(row.composerId) ?? filledStringIn(record, 'composerId')
  if (id === null) return { head: null, evidence: [], issue }
  const chatId = asChatId(id)
  const head = withColumns(decodeHead(record, chatId, 'header-table'), row, record)
  const evidence = headEvidence(record, chatId, 'header-table')
  return { head, evidence: evidence.length > 0 ? evidence : columnEvidence(row, chatId, rootOf), issue }
}

/** The column names a workspace by its id alone: the root is what that workspace's folder says. */
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

/** Columns are written with every change, the value now and then. */
function withColumns(head: ChatMetadata, row: HeaderRow, record: JsonRecord): ChatMetadata {
  const isRival = record['isBestOfNSubcomposer'] === true
  return {
    ...head,
    createdAtMs: readTime(row.createdAt) ?? head.createdAtMs,
    // Some rows have no time of their last change, and then the one by which they are sorted.
    updatedAtMs: readTime(row.lastUpdatedAt) ?? head.updatedAtMs ?? readTime(row.recency),
    isArchived: readFlag(row.isArchived) ?? head.isArchived,
    isSubagent: head.isSubagent ?? (isRival ? null : readFlag(row.isSubagent)),
  }
}

function checksumOf(rows: readonly HeaderRow[]): number {
  return rows.reduce((sum, { value, ...columns }) => {
    const named = crc32(Object.values(columns).map(String).join('\0'), sum)
    return value === null ? named : crc32(value, named)
  }, 0)
}
