import { join } from 'node:path'
import type Database from 'better-sqlite3'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { listPendingOutputs, listReferringChats, type OpenReference } from '../../../mirror/write/references.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { type AnswerWrite, emptyChange, type PendingReference } from '../../../model/change.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Json } from '../../../model/json.ts'
import type { Part } from '../../../model/part.ts'
import { listFolders, readPlainFile } from '../../open-safely/cursor-file.ts'
import { whileOpen, type PassRequest } from '../../source.ts'
import { boundJson, filledStringIn, parsedRecord, recordIn } from '../records/json.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { readPayload } from '../records/tool.ts'

/** A file beside the transcripts, to which Cursor wrote a long output for the agent to read. */
const OUTPUT_FILE = /(?:^|[\\/])agent-tools[\\/]([^\\/]+\.txt)$/
const FILE_BYTES_MAX = 1024 * 1024
/** How ids of agents of the SDK begin. */
const SDK_PREFIX = 'agent-'
const EVENTS_MAX = 20_000

/**
 * The outputs that a transcript leaves out and that have another place: files that a call reads, and calls of an agent of the
 * SDK. A call that has no id is known by the file.
 */
export function missingOutputs(parts: readonly Part[], chatId: ChatId): readonly PendingReference[] {
  return parts.flatMap((part): PendingReference[] => {
    if (part.kind !== 'tool' || part.output !== null) return []
    const file = part.callId === null ? part.paths.find((path) => OUTPUT_FILE.test(path)) : undefined
    const name = file ?? (chatId.startsWith(SDK_PREFIX) ? part.callId : null)
    return name === null ? [] : [{ kind: 'output', name, path: null }]
  })
}

/**
 * Looks for outputs that messages of a project's transcripts leave out. What is not found is looked for again when a transcript
 * of the project changes.
 * @param project its folder in Cursor's home
 */
export async function joinOutputs(mirror: Mirror, num: number, project: string, request: PassRequest): Promise<void> {
  for (const { id } of listReferringChats(mirror, { source: num, after: 0 })) {
    const answers: AnswerWrite[] = []
    const calls: OpenReference[] = []
    for (const ask of listPendingOutputs(mirror, num, id)) {
      const [, name] = OUTPUT_FILE.exec(ask.name) ?? []
      if (name === undefined) calls.push(ask)
      const file = name === undefined ? null : readPlainFile(join(project, 'agent-tools', name), FILE_BYTES_MAX)
      if (file?.kind === 'bytes') answers.push({ ask: ask.num, value: file.bytes.toString('utf8'), cappedFrom: null })
    }
    if (calls.length > 0) answers.push(...(await findInStores(project, id, calls)))
    if (answers.length === 0) continue
    const outcome = writeChange(mirror, { ...emptyChange, answers, source: num, nowMs: request.now() })
    await request.turn({ outcome })
  }
}

/** What a program of the SDK kept of its runs: `sdk-agent-store/<hash of the folder>/index.db`. */
async function findInStores(project: string, id: ChatId, asks: readonly OpenReference[]): Promise<AnswerWrite[]> {
  const folder = join(project, 'sdk-agent-store')
  const found: AnswerWrite[] = []
  for (const name of listFolders(folder) ?? []) {
    // A store that is absent, busy or damaged is looked at again later.
    const results = await whileOpen(join(folder, name, 'index.db'), async (file) =>
      Promise.resolve(file.read((db) => readResults(db, id))),
    ).catch(() => null)
    if (results === null || 'state' in results) continue
    for (const ask of asks) {
      const value = results.get(ask.name)
      if (value !== undefined) found.push({ ask: ask.num, value, cappedFrom: null })
    }
  }
  return found
}

/** Only these columns are read. */
const LIST_EVENTS = `
select payload_json from run_events where run_id in (select run_id from runs where agent_id = ?)
  and event_type = 'run_stream_event' and typeof(payload_json) = 'text' and octet_length(payload_json) <= ${FILE_BYTES_MAX}
order by run_id, seq limit ${EVENTS_MAX}
`

/** By the call's id. Of several events of a call, the last one with a result counts. */
function readResults(db: Database.Database, id: ChatId): ReadonlyMap<string, Json> {
  const results = new Map<string, Json>()
  const hasAll =
    hasKnownTable(db, 'runs', ['run_id', 'agent_id'], 'key') &&
    hasKnownTable(db, 'run_events', ['run_id', 'seq', 'event_type', 'payload_json'], 'key')
  if (!hasAll) return results
  for (const payload of prepared<string>(db, LIST_EVENTS).pluck().iterate(id)) {
    const message = recordIn(parsedRecord(payload), 'message')
    const callId = message?.['type'] === 'tool_call' ? filledStringIn(message, 'call_id') : null
    const value = recordIn(message, 'result')?.['value'] ?? message?.['result'] ?? null
    if (callId !== null && value !== null) results.set(callId, boundJson(readPayload(value)).value)
  }
  return results
}
