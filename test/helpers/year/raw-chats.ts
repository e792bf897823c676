import Database from 'better-sqlite3'
import { readExpected, type ExpectedMessage } from '../oracle.ts'
import { readRows } from '../oracle/rows.ts'
import { asArray, asFields, asText, parseJson, type Fields } from '../oracle/values.ts'

/** A message of a thread, as a person would read it in the store. */
export interface RawMessage {
  readonly isUser: boolean
  readonly atMs: number | null
  readonly model: string | null
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
 * The threads of a store as the oracle reads them, which shares no code with the program.
 * @param globalPath Cursor's global store. @param workspaces stores of workspaces, with the root of each
 */
export function readRawChats(globalPath: string, workspaces: ReadonlyMap<string, string>): RawChat[] {
  const rows = readRows(globalPath).chats
  const roots = listRoots(workspaces)
  return [...readExpected(globalPath).chats.values()].map(({ id, messages }) => ({
    id,
    row: rows.get(id) ?? {},
    root: roots.get(id) ?? null,
    thread: messages.filter(({ isOrphan }) => !isOrphan).map(rawMessage),
  }))
}

function listRoots(workspaces: ReadonlyMap<string, string>): Map<string, string> {
  const roots = new Map<string, string>()
  for (const [path, root] of workspaces) {
    const db = new Database(path, { readonly: true })
    const value = db.prepare(`select value from ItemTable where key = 'composer.composerData'`).pluck().get()
    db.close()
    const list = asArray(asFields(parseJson(String(value)))?.['allComposers'])
    for (const each of list) roots.set(String(asFields(each)?.['composerId']), root)
  }
  return roots
}

function rawMessage({ role, createdAt, model, holdings }: ExpectedMessage): RawMessage {
  const [tool] = holdings.tool
  const path = Object.entries(asFields(tool?.input) ?? {}).find(([name]) => name !== 'command')?.[1]
  return {
    isUser: role === 'user',
    atMs: createdAt === null ? null : Date.parse(createdAt),
    model,
    call: tool === undefined ? null : { name: tool.name, status: tool.status, path: asText(path) },
  }
}
