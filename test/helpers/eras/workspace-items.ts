import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatFormat } from '../../../src/model/chat.ts'
import type { Role } from '../../../src/model/message.ts'
import { readJson } from '../cases.ts'
import { Store } from '../cursor.ts'

export interface EraMessage {
  /** Null if Cursor gave it no id. */
  readonly id: string | null
  readonly role: Role
  readonly text: string
}

export interface EraChat {
  readonly id: string
  readonly title: string | null
  readonly format: ChatFormat
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly messages: readonly EraMessage[]
}

/** The items that one era of Cursor stored in a workspace, and the expected result. */
export interface Era {
  readonly name: string
  /** Name of the workspace's folder in `workspaceStorage`. */
  readonly workspaceId: string
  /** Normalised. */
  readonly rootUri: string
  readonly chats: readonly EraChat[]
  /** Chats of this workspace that the items list but do not contain. */
  readonly headIds: readonly string[]
  /** Chats that were open in this workspace. */
  readonly openIds: readonly string[]
  /** Writes it into a `User` folder, replacing a former one. */
  write(userDir: string): void
}

/** A word in secrets beside the chats of every store, which must not be read. */
export const canary = 'canary-token-that-nobody-may-read'

interface Written extends Partial<Omit<Era, 'write'>> {
  readonly name: string
  readonly workspaceId: string
  readonly rootUri: string
  /** Of `workspace.json`. */
  readonly json: Readonly<Record<string, string>>
  readonly items: Readonly<Record<string, unknown>>
}

const eraOf = ({ json, items, ...told }: Written): Era => ({
  chats: [],
  headIds: [],
  openIds: [],
  ...told,
  write: (userDir) => {
    const folder = join(userDir, 'workspaceStorage', told.workspaceId)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'workspace.json'), JSON.stringify(json))
    writeStore(join(folder, 'state.vscdb'), items)
  },
})

/** As these eras wrote it: with a rollback journal and only one table. */
function writeStore(path: string, items: Written['items']): void {
  const store = new Store(path, 'delete')
  store.db.exec('delete from ItemTable; drop table cursorDiskKV')
  store.item('cursorAuth/accessToken', canary)
  store.item('secret://workspace', { token: canary })
  store.item('workbench.panel.composerChatViewPane.hidden', [{ id: `workbench.panel.aichat.view.${canary}` }])
  for (const [key, value] of Object.entries(items)) store.item(key, value)
  store.close()
}

export const workspaceEras: readonly Era[] = (readJson(import.meta.url, 'workspace-items.json') as Written[]).map(eraOf)

export const eraIn = <Named extends { readonly name: string }>(eras: readonly Named[], name: string): Named => {
  const found = eras.find((era) => era.name === name)
  if (found === undefined) throw new Error(`no era is named "${name}": ${eras.map((era) => era.name).join(', ')}`)
  return found
}

export const eraTabs = eraIn(workspaceEras, 'A: tabs')
export const eraInline = eraIn(workspaceEras, 'B: whole composers')
export const eraPrompts = eraIn(workspaceEras, 'prompts alone')
