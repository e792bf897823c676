import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { documentId } from '../../../mirror/threads/assemble.ts'
import { isOwn } from '../../../mirror/write/chat-columns.ts'
import { type Planner, listLiveMessages, listPlanners } from '../../../mirror/write/messages.ts'
import { packMessage, parseParts } from '../../../mirror/write/pack-message.ts'
import { listRowChats, writeChange } from '../../../mirror/write/write.ts'
import { type ChatChange, emptyChange, type RowState } from '../../../model/change.ts'
import { asMessageId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { entryAt, folderState, listEntries, readPlainFile, stateOf } from '../../open-safely/cursor-file.ts'
import { judgeMissing, ofFolder, read, skipped, type PassRequest, type Source } from '../../source.ts'
import { plainMessage } from '../records/model-messages.ts'
import type { Part, TodoItem } from '../../../model/part.ts'
import { filledString, isBlank, parseJson, wellFormed } from '../records/json.ts'

/** It has no chats, only documents of chats that other sources have. */
const RANK = 5
/** The largest of 77 seen plans has 60 KB. */
const FILE_BYTES_MAX = 1024 * 1024
/** So many files are read and written together. */
const STEP_FILES = 50
/** Cursor may write the chat some time after the plan. An older plan is looked at again at the next start. */
const YOUNG_MS = 600_000
const AGAIN_MS = 30_000
const LAST_KEY = '\u{10ffff}'

type PlanFile = NonNullable<ReturnType<typeof listPlans>>['files'][number]

/**
 * The plans in one of Cursor's home folders. A plan is a document of the chat whose call wrote it; a plan of no known chat is
 * not mirrored, because nobody knows whose project it is.
 * @param folder such as `~/.cursor/plans`
 */
export function plansSource(folder: string): Source {
  return {
    ...ofFolder({ kind: 'plans', decoder: 1, folder, rank: RANK }),
    signature: () => listPlans(folder)?.signature ?? null,
    async pass(mirror, num, request) {
      const listing = listPlans(folder)
      if (listing === null) return { kind: 'closed', state: 'missing', detail: null }
      const { files, identity, signature } = listing
      const rows = new Map(held.listHeldRows(mirror, num, '', LAST_KEY).map((row) => [row.key, row]))
      const isLone = ({ key }: Pick<PlanFile, 'key'>): boolean => listRowChats(mirror, num, key).length === 0
      const skip = skipped(mirror, num, request, signature)
      if (skip !== null && !files.some(isLone)) return skip
      const isDue = (file: PlanFile): boolean =>
        request.depth === 'values' || rows.get(file.key)?.rowid !== file.stamp || isLone(file)
      const due = files.filter(isDue)
      const planners = due.length === 0 ? [] : listPlanners(mirror)
      for (let at = 0; at < due.length; at += STEP_FILES)
        await writeFiles(mirror, num, request, folder, due.slice(at, at + STEP_FILES), planners)
      const names = new Set(files.map(({ key }) => key))
      const missing = [...rows.values()].filter(({ key }) => !names.has(key))
      const backKeys = [...rows.values()].flatMap(({ key, missedAtMs }) =>
        missedAtMs !== null && names.has(key) ? key : [],
      )
      const goneKeys = [...judgeMissing(mirror, num, { missing, backKeys }, request)]
      const vanished = goneKeys.flatMap((key) =>
        listRowChats(mirror, num, key).map((id) => changeOf(id, { vanished: [documentId(key)] })),
      )
      const position = { identity, signature, watermark: null, watermarkKey: null }
      const gone = { ...emptyChange, chats: vanished, goneKeys, position, source: num, nowMs: request.now() }
      await request.turn({ outcome: writeChange(mirror, gone) })
      held.saveCounts(mirror, { num, totalRows: files.length, nullKeys: 0, nowMs: request.now() })
      const isYoung = files.some((file) => isLone(file) && file.changedAtMs > request.now() - YOUNG_MS)
      return isYoung ? { isRead: true, again: [{ depth: 'tail', inMs: AGAIN_MS }] } : read
    },
  }
}

/** The plans in their folder, from `stat` alone; null if there is no such folder. Links are skipped. */
function listPlans(folder: string) {
  const files = listEntries(folder).flatMap(({ name: key }) => {
    const own = /.\.plan\.md$/i.test(key) ? entryAt(join(folder, key)) : null
    if (!own?.isFile()) return []
    const stamp = crc32(`${key}\0${stateOf(own)}`)
    return [{ key, octets: Number(own.size), changedAtMs: Number(own.mtimeMs), stamp }]
  })
  const state = folderState(
    folder,
    files.map(({ key, stamp }) => `${key}\0${stamp}`),
  )
  return state === null ? null : { ...state, files }
}

const changeOf = (id: ChatId, said: Partial<ChatChange>): ChatChange => ({
  id,
  ownRow: { kind: 'unread' },
  messages: [],
  vanished: [],
  ...said,
})

async function writeFiles(
  mirror: Mirror,
  num: number,
  request: PassRequest,
  folder: string,
  files: readonly PlanFile[],
  planners: readonly Planner[],
): Promise<void> {
  const rows: RowState[] = []
  const issues: { readonly key: string; readonly octets: number; readonly reason: IssueReason }[] = []
  const chats: ChatChange[] = []
  let bytesRead = 0
  for (const { key, octets, stamp } of files) {
    const path = join(folder, key)
    const file = readPlainFile(path, FILE_BYTES_MAX)
    const bytes = file.kind === 'bytes' ? file.bytes : null
    bytesRead += bytes?.length ?? 0
    const { name, parts } = decodePlan(bytes?.toString('utf8') ?? '', path)
    if (parts.length === 0) {
      // An empty file is being written: the mirror keeps what it has.
      const reason = file.kind === 'bytes' ? 'null-value' : file.kind === 'too-large' ? file.kind : 'unreadable-page'
      issues.push({ key, octets, reason })
      rows.push({ key, rowid: stamp, octets, checksum: null })
      continue
    }
    const place = findPlace(mirror, num, planners, { key, name })
    rows.push({ key, rowid: stamp, octets, checksum: null, chatIds: place === null ? [] : [place.chatId] })
    if (place === null) continue
    const told = { id: documentId(key), alias: place.after, role: 'assistant' as const, sentAtMs: null, parts, octets }
    chats.push(changeOf(place.chatId, { messages: [packMessage({ ...plainMessage, ...told, isEmbedded: false })] }))
  }
  const outcome = writeChange(mirror, { ...emptyChange, rows, issues, chats, source: num, nowMs: request.now() })
  await request.turn({ bytesRead, outcome })
}

/**
 * The chat of a plan, and the message that the document follows: the call that names the file, else the one that wrote a plan
 * of this name. If several chats did, nobody knows which one it was. Once found, a plan stays with its chat.
 */
function findPlace(
  mirror: Mirror,
  num: number,
  planners: readonly Planner[],
  { key, name }: { readonly key: string; readonly name: string | null },
) {
  const naming = planners.filter(({ parts }) => parts.includes(JSON.stringify(key).slice(1, -1)))
  const writes = ({ parts }: Planner): boolean =>
    parseParts(parts).some((part) => part.kind === 'plan' && part.title === name)
  const found = naming.length > 0 ? naming : name === null ? [] : planners.filter(writes)
  const before = listRowChats(mirror, num, key).find((id) => isOwn(mirror, id))
  if (before !== undefined) {
    const document = listLiveMessages(mirror, before, num).find(({ id }) => id === documentId(key))
    const after = found.find(({ chatId }) => chatId === before)?.id ?? document?.alias ?? null
    return { chatId: before, after }
  }
  const [first] = found
  const isOnly = first !== undefined && found.every(({ chatId }) => chatId === first.chatId)
  return isOnly ? { chatId: first.chatId, after: asMessageId(first.id) } : null
}

const FRONT_MATTER = /^---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * Decodes a plan's file: front matter with `name`, `overview`, `todos` and `isProject`, then Markdown. Total: if a line of the
 * front matter has another form, it stays in the text, whole.
 * @param path the file's own path, which the plan is shown with
 * @returns `name`: the plan's name, as the call that wrote it has it; null if the file has none. `parts`: empty for a file
 * without content
 */
function decodePlan(content: string, path: string) {
  const text = wellFormed(content.replace(/^\uFEFF/, ''))
  const [whole = '', matter = ''] = FRONT_MATTER.exec(text) ?? []
  const { name, overview, todos, isKnown } = decodeMatter(matter.split(/\r?\n/))
  const body = isKnown
    ? [overview, text.slice(whole.length).trim()].filter((each) => !isBlank(each)).join('\n\n')
    : text
  const plan: Part = { kind: 'plan', title: name, path, text: body }
  const parts: readonly Part[] = [
    ...(isBlank(body) ? [] : [plan]),
    ...(isKnown && todos.length > 0 ? [{ kind: 'todo' as const, items: todos }] : []),
  ]
  return { name, parts }
}

function decodeMatter(lines: readonly string[]) {
  const fields = new Map<string, string>()
  const todos: TodoItem[] = []
  let isKnown = true
  for (const line of lines) {
    const [, dash = '', key = '', given = ''] = /^(?: {0,4}(- )| {2,6})?(\w+):(?: +(.*))?$/.exec(line) ?? []
    const isItem = line.startsWith(' ') || dash !== ''
    const value = scalar(given.trim())
    if (isItem && key === 'id' && dash !== '') todos.push({ id: value, content: '', status: null })
    else if (isItem && (key === 'content' || key === 'status') && todos.length > 0)
      todos.push({ ...(todos.pop() as TodoItem), [key]: value })
    else if (!isItem && key !== '' && value !== null) fields.set(key, value)
    else isKnown &&= isBlank(line)
    isKnown &&= value !== null
  }
  const isEmpty = todos.some(({ content }) => content === '')
  const name = filledString(fields.get('name')) ?? null
  return { name, overview: fields.get('overview') ?? '', todos, isKnown: isKnown && !isEmpty }
}

/** A value of YAML on one line; null for one in a form that Cursor was not seen to write. */
function scalar(given: string): string | null {
  if (given.startsWith('"')) return filledString(parseJson(given)?.value)
  if (given.startsWith("'")) return /^'(?:[^']|'')*'$/.test(given) ? given.slice(1, -1).replaceAll("''", "'") : null
  return /^[|>&*!{%@`]|^\[(?!\]$)/.test(given) ? null : given
}
