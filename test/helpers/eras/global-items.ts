import type Database from 'better-sqlite3'
import type { EraChat } from './workspace-items.ts'

/** A list's metadata of one chat, as far as a fixture sets it. */
export interface EraHead {
  readonly chatId: string
  readonly name: string | null
  readonly updatedAtMs: number | null
  readonly isArchived: boolean | null
  readonly isSubagent: boolean | null
  readonly parentChatId: string | null
}

/** The items that one era of Cursor stored beside the chats of the global store, and the expected result. */
export interface GlobalEra {
  readonly name: string
  readonly list: 'header-list' | 'header-table' | null
  readonly heads: readonly EraHead[]
  /** `<chat> <method> <root>`. */
  readonly evidence: readonly string[]
  /** Chats that the items themselves contain. */
  readonly chats: readonly EraChat[]
  /** Writes the items into a store with tables, replacing the former ones. */
  write(db: Database.Database): void
}

/** A word in items with secrets, which must not be read. */
export const canary = 'canary-token-that-nobody-may-read'

const at = (day: number): number => Date.UTC(2026, 3, day, 9)

const home = { $mid: 1, fsPath: '/yard/mill', external: 'file:///yard/mill', path: '/yard/mill', scheme: 'file' }
const remote = { $mid: 1, path: '/srv/dam', scheme: 'vscode-remote', authority: 'ssh-remote+box', fsPath: '/srv/dam' }

const silent = { name: null, updatedAtMs: null, isArchived: null, isSubagent: null, parentChatId: null }

export function putItem(db: Database.Database, key: string, value: unknown): void {
  const text = typeof value === 'string' || value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value)
  db.prepare('insert or replace into ItemTable (key, value) values (?, ?)').run(key, text)
}

function putSecrets(db: Database.Database): void {
  for (const key of ['cursorAuth/accessToken', 'secret://mcp', 'composer.composerHeaders.secret', 'glass.token']) {
    putItem(db, key, canary)
  }
}

/** Cursor 3.0: a list under one key. */
export const headerListOf30: GlobalEra = {
  name: 'the list of 3.0',
  list: 'header-list',
  heads: [
    { ...silent, chatId: 'list-1', name: 'Turn the wheel', updatedAtMs: at(3), isArchived: false },
    { ...silent, chatId: 'list-2', name: 'Raise the dam', isArchived: true },
    { ...silent, chatId: 'list-3', isSubagent: true, parentChatId: 'list-1' },
    { ...silent, chatId: 'list-4', name: 'A rival answer' },
  ],
  evidence: ['list-1 header-list file:///yard/mill', 'list-2 header-list vscode-remote://ssh-remote%2Bbox/srv/dam'],
  chats: [],
  write(db) {
    putSecrets(db)
    putItem(db, 'composer.composerHeaders.version', '2')
    const head = { type: 'head', subtitle: 'wheel.ts', createdAt: at(1), unifiedMode: 'agent', trackedGitRepos: [] }
    putItem(db, 'composer.composerHeaders', {
      allComposers: [
        {
          ...head,
          composerId: 'list-1',
          name: 'Turn the wheel',
          lastUpdatedAt: at(3),
          isArchived: false,
          totalLinesAdded: 12,
          workspaceIdentifier: { id: 'w1', uri: home },
        },
        {
          ...head,
          composerId: 'list-2',
          name: 'Raise the dam',
          isArchived: true,
          workspaceIdentifier: { uri: remote },
        },
        { ...head, composerId: 'list-3', subagentInfo: { parentComposerId: 'list-1' } },
        { ...head, composerId: 'list-4', name: 'A rival answer', isBestOfNSubcomposer: true },
      ],
    })
  },
}

const tableOf39 = `
create table composerHeaders (composerId text primary key, workspaceId text, createdAt integer, lastUpdatedAt integer,
  isArchived integer, isSubagent integer, recency integer, checkpointAt integer, value text)
`
const tableOf319 = `
create table composerHeaders (value text, recency integer, composerId text primary key, subagentTypeName text,
  isSubagent integer, checkpointAt integer, lastUpdatedAt integer, createdAt integer, workspaceId text,
  isArchived integer)
`

export interface TableRow {
  readonly composerId: string
  readonly workspaceId?: string
  readonly createdAt?: number
  readonly lastUpdatedAt?: number
  readonly isArchived?: number
  readonly isSubagent?: number
  readonly recency?: number
  readonly subagentTypeName?: string
  readonly value?: unknown
}

export function putHeader(db: Database.Database, row: TableRow): void {
  const { value, ...columns } = row
  const named = { ...columns, value: value === undefined || Buffer.isBuffer(value) ? value : JSON.stringify(value) }
  const names = Object.entries(named).flatMap(([name, given]) => (given === undefined ? [] : [name]))
  const marks = names.map((name) => `@${name}`)
  db.prepare(`insert or replace into composerHeaders (${names.join(', ')}) values (${marks.join(', ')})`).run(named)
}

export function makeHeaderTable(db: Database.Database, version: '3.9' | '3.19'): void {
  db.exec('drop table if exists composerHeaders')
  db.exec(version === '3.9' ? tableOf39 : tableOf319)
}

/** Cursor 3.9: a table. A row without a time of its last change has the time by which it is sorted. */
export const headerTableOf39: GlobalEra = {
  name: 'the table of 3.9',
  list: 'header-table',
  heads: [
    { ...silent, chatId: 'table-1', name: 'Grind', updatedAtMs: at(5), isArchived: false, isSubagent: false },
    { ...silent, chatId: 'table-2', name: 'Sift', updatedAtMs: at(6), isArchived: true, isSubagent: false },
  ],
  evidence: ['table-1 header-table file:///yard/mill'],
  chats: [],
  write(db) {
    putSecrets(db)
    makeHeaderTable(db, '3.9')
    putItem(db, 'composer.composerHeaders.migratedToTable', 'true')
    putHeader(db, {
      composerId: 'table-1',
      workspaceId: 'w1',
      createdAt: at(4),
      lastUpdatedAt: at(5),
      isArchived: 0,
      isSubagent: 0,
      recency: at(5),
      value: { type: 'head', name: 'Grind', workspaceIdentifier: { id: 'w1', uri: home } },
    })
    putHeader(db, {
      composerId: 'table-2',
      workspaceId: 'w1',
      createdAt: at(4),
      isArchived: 1,
      isSubagent: 0,
      recency: at(6),
      value: { type: 'head', name: 'Sift', workspaceIdentifier: { id: 'w1' } },
    })
  },
}

/** Cursor 3.19: the same table with another column order and one more column. */
export const headerTableOf319: GlobalEra = {
  name: 'the table of 3.19',
  list: 'header-table',
  heads: [
    { ...silent, chatId: 'table-3', name: 'Bake', updatedAtMs: at(8), isArchived: false, isSubagent: false },
    { ...silent, chatId: 'table-4', updatedAtMs: at(8), isSubagent: true, isArchived: false, parentChatId: 'table-3' },
  ],
  evidence: ['table-3 header-table file:///yard/bakery'],
  chats: [],
  write(db) {
    putSecrets(db)
    makeHeaderTable(db, '3.19')
    const times = { createdAt: at(7), lastUpdatedAt: at(8), recency: at(8), isArchived: 0 }
    const agentLocation = { environment: { uri: { fsPath: '/yard/bakery', scheme: 'file', path: '/yard/bakery' } } }
    putHeader(db, {
      ...times,
      composerId: 'table-3',
      isSubagent: 0,
      value: { type: 'head', name: 'Bake', agentLocation },
    })
    putHeader(db, {
      ...times,
      composerId: 'table-4',
      isSubagent: 1,
      subagentTypeName: 'explore',
      value: { type: 'head', subagentInfo: { parentComposerId: 'table-3' } },
    })
  },
}

/** The projects of the sidebar, since 3.12. */
export const agentProjects: GlobalEra = {
  name: 'the projects of 3.12',
  list: null,
  heads: [],
  evidence: ['member-1 agent-project file:///yard/mill', 'member-2 agent-project file:///c:/Work/Dam'],
  chats: [],
  write(db) {
    putSecrets(db)
    putItem(db, 'glass.localAgentProjects.v1', [
      { id: 'p1', name: 'mill', workspace: { id: 'w1', uri: { fsPath: '/yard/mill', scheme: 'file' } } },
      { id: 'p2', name: 'dam', workspace: { id: 'w2', uri: { path: '/C:/Work/Dam', scheme: 'file' } } },
      { id: 'p3', name: 'nowhere' },
    ])
    putItem(db, 'glass.localAgentProjectMembership.v1', {
      'member-1': 'p1',
      'member-2': 'p2',
      'member-3': 'p3',
      'member-4': 'gone',
    })
  },
}

const tabChat = { format: 'tab', createdAtMs: null } as const
const emptyDraft = { type: 'user', messageType: 2, text: '', followup: true }

/** Tabs of windows without a folder, under both keys. */
export const globalTabs: GlobalEra = {
  name: 'tabs in the global store',
  list: null,
  heads: [],
  evidence: [],
  chats: [
    {
      ...tabChat,
      id: 'global-tab-1',
      title: 'Why the sluice leaks',
      updatedAtMs: at(1),
      messages: [
        { id: 'global-u1', role: 'user', text: 'Why does the sluice leak?' },
        { id: 'global-a1', role: 'assistant', text: 'Its gasket is worn.' },
        { id: null, role: 'user', text: 'Which gasket fits?' },
        { id: null, role: 'assistant', text: 'The one of forty millimetres.' },
      ],
    },
    { ...tabChat, id: 'global-tab-2', title: 'New Chat', updatedAtMs: at(2), messages: [] },
    {
      ...tabChat,
      id: 'global-tab-old',
      title: 'Weir',
      updatedAtMs: null,
      messages: [{ id: 'global-old-u', role: 'user', text: 'How high may the weir be?' }],
    },
  ],
  write(db) {
    putSecrets(db)
    putItem(db, 'workbench.panel.aichat.view.aichat.chatdata.secret', canary)
    const told = [
      { type: 'user', id: 'global-u1', messageType: 2, text: 'Why does the sluice leak?' },
      { type: 'ai', id: 'global-a1', messageType: 3, text: 'Shown: worn.', rawText: 'Its gasket is worn.' },
      { type: 'user', text: 'Which gasket fits?' },
      { type: 'ai', text: 'The one of forty millimetres.' },
    ]
    const draft = { ...emptyDraft, id: 'global-draft', fileSelections: [{ uri: { fsPath: '/yard/sluice/gasket.c' } }] }
    putItem(db, 'workbench.panel.aichat.view.aichat.chatdata', {
      tabs: [
        { tabId: 'global-tab-1', chatTitle: 'Why the sluice leaks', lastSendTime: at(1), bubbles: [...told, draft] },
        { tabId: 'global-tab-2', chatTitle: 'New Chat', lastSendTime: at(2), bubbles: [emptyDraft] },
      ],
      selectedTabId: 'global-tab-1',
    })
    const old = { type: 'user', id: 'global-old-u', delegate: { a: 'How high may the weir be?' } }
    putItem(db, 'workbench.panel.chat.view.chat.chatdata', {
      tabs: [{ tabId: 'global-tab-old', chatTitle: 'Weir', bubbles: [old] }],
    })
  },
}

/** Eras that have metadata of chats but contain no chats. */
export const listEras: readonly GlobalEra[] = [headerListOf30, headerTableOf39, headerTableOf319, agentProjects]
export const globalEras: readonly GlobalEra[] = [...listEras, globalTabs]
