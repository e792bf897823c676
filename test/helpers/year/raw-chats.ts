import Database from 'better-sqlite3'

type Fields = Record<string, unknown>

/** A message of a thread, as a person would read it in the store. */
export interface RawMessage {
  readonly id: string
  readonly isUser: boolean
  readonly atMs: number | null
  readonly model: string | null
  readonly tokens: { readonly input: number; readonly output: number } | null
  readonly call: { readonly name: string; readonly status: string; readonly path: string | null } | null
}

export interface RawChat {
  readonly id: string
  readonly row: Fields
  /** The root of the workspace that lists the chat. */
  readonly root: string | null
  readonly thread: readonly RawMessage[]
}

/**
 * An independent reading of a store, as simple and slow as possible, that shares no code with the program.
 * @param globalPath Cursor's global store. @param workspaces stores of workspaces, with the root of each
 */
export function readRawChats(globalPath: string, workspaces: ReadonlyMap<string, string>): RawChat[] {
  const rows = new Map<string, Fields>()
  const db = new Database(globalPath, { readonly: true })
  for (const { key, value } of db.prepare('select key, value from cursorDiskKV').all() as Row[]) {
    if (value !== null) rows.set(key, parse(value))
  }
  db.close()
  const roots = listRoots(workspaces)
  const ids = new Set([...rows.keys()].map((key) => key.split(':')[1] ?? ''))
  return [...ids].map((id) => {
    const own = rows.get(`composerData:${id}`)
    const messages = [...rows].filter(([key]) => key.startsWith(`bubbleId:${id}:`))
    const named = (own?.['fullConversationHeadersOnly'] ?? []) as Fields[]
    const bubbles = messages.map(([key, value]) => ({ id: key.split(':')[2] ?? '', value }))
    const inThread = bubbles.filter(
      (bubble) => own === undefined || named.some((each) => each['bubbleId'] === bubble.id),
    )
    const ordered = inThread
      .map((bubble) => ({ ...bubble, header: named.find((each) => each['bubbleId'] === bubble.id) ?? {} }))
      .filter(({ value }) => value['text'] !== '' || callOf(value) !== null)
      .sort((one, other) =>
        own === undefined ? timeOf(one) - timeOf(other) : named.indexOf(one.header) - named.indexOf(other.header),
      )
    return { id, row: own ?? {}, root: roots.get(id) ?? null, thread: dated(ordered, own ?? {}) }
  })
}

interface Row {
  readonly key: string
  readonly value: string | null
}

interface Bubble {
  readonly id: string
  readonly value: Fields
  readonly header: Fields
}

const parse = (text: string): Fields => JSON.parse(text) as Fields

function listRoots(workspaces: ReadonlyMap<string, string>): Map<string, string> {
  const roots = new Map<string, string>()
  for (const [path, root] of workspaces) {
    const db = new Database(path, { readonly: true })
    const row = db.prepare(`select value from ItemTable where key = 'composer.composerData'`).get() as Row | undefined
    db.close()
    const list = (parse(row?.value ?? '{}')['allComposers'] ?? []) as Fields[]
    for (const each of list) roots.set(String(each['composerId']), root)
  }
  return roots
}

/**
 * A message without a time gets the time of a neighbour, else of the chat: an answer that of a former message, a question
 * that of a later one, if there is one.
 */
function dated(bubbles: readonly Bubble[], chat: Fields): RawMessage[] {
  const own = bubbles.map(ownTime)
  const created = typeof chat['createdAt'] === 'number' ? chat['createdAt'] : null
  const nearOf = (at: number, isUser: boolean): number | null => {
    const later = own.slice(at).find((time) => time !== null) ?? null
    const former = own.slice(0, at).findLast((time) => time !== null) ?? null
    return isUser ? (later ?? former) : (former ?? later)
  }
  return bubbles.map(({ id, value }, at) => ({
    id,
    isUser: value['type'] === 1,
    atMs: own[at] ?? nearOf(at, value['type'] === 1) ?? created,
    model: modelOf(value),
    tokens: tokensOf(value),
    call: callOf(value),
  }))
}

function ownTime({ value, header }: Bubble): number | null {
  const said = value['createdAt'] ?? header['createdAt']
  if (typeof said === 'string') return Date.parse(said)
  const sentMs = (value['timingInfo'] as Fields | undefined)?.['clientRpcSendTime']
  return typeof sentMs === 'number' ? sentMs : null
}

/** Messages of a chat without a row are ordered by time; those without a time are last. */
const timeOf = (bubble: Bubble): number => ownTime(bubble) ?? 1e15

function modelOf(value: Fields): string | null {
  const name = (value['modelInfo'] as Fields | undefined)?.['modelName']
  return typeof name === 'string' && name !== 'default' ? name : null
}

function tokensOf(value: Fields): RawMessage['tokens'] {
  const count = value['tokenCount'] as { inputTokens: number; outputTokens: number } | undefined
  if (count === undefined || count.inputTokens + count.outputTokens === 0) return null
  return { input: count.inputTokens, output: count.outputTokens }
}

const endings: Readonly<Record<string, string>> = { loading: 'running' }

function callOf(value: Fields): RawMessage['call'] {
  const data = value['toolFormerData'] as Fields | undefined
  if (typeof data?.['name'] !== 'string') return null
  const word = String(data['status'])
  const status = data['userDecision'] === 'rejected' ? 'rejected' : (endings[word] ?? word)
  const params = parse(String(data['params']))
  const path = Object.entries(params).find(([name]) => name !== 'command')?.[1]
  return { name: data['name'], status, path: typeof path === 'string' ? path : null }
}
