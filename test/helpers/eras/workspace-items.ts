import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatFormat } from '../../../src/model/chat.ts'
import type { Role } from '../../../src/model/message.ts'
import { Store } from '../../../src/sample/cursor-home.ts'

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

const at = (day: number): number => Date.UTC(2024, 10, day, 9)

type Silent = 'chats' | 'headIds' | 'openIds'

interface Left extends Omit<Era, Silent | 'write'>, Partial<Pick<Era, Silent>> {
  readonly json: Readonly<Record<string, string>>
  readonly items: Readonly<Record<string, unknown>>
}

const eraOf = ({ json, items, ...told }: Left): Era => ({
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
function writeStore(path: string, items: Left['items']): void {
  const store = new Store(path, 'delete')
  store.db.exec('delete from ItemTable; drop table cursorDiskKV')
  store.item('cursorAuth/accessToken', canary)
  store.item('secret://workspace', { token: canary })
  store.item('workbench.panel.composerChatViewPane.hidden', [{ id: `workbench.panel.aichat.view.${canary}` }])
  for (const [key, value] of Object.entries(items)) store.item(key, value)
  store.close()
}

const rich = (text: string): string =>
  JSON.stringify({ root: { type: 'root', children: [{ type: 'paragraph', children: [{ type: 'text', text }] }] } })

const tabs = [
  {
    tabId: 'era-a-tab-1',
    chatTitle: 'Why the boiler stops',
    tabState: 'chat',
    lastSendTime: at(1),
    bubbles: [
      {
        type: 'user',
        id: 'era-a-u1',
        messageType: 2,
        text: '',
        initText: rich('Why does the boiler stop?'),
        selections: [{ uri: { path: '/yard/boiler/main.c' }, rawText: 'stop();', text: 'stop();' }],
        fileSelections: [{ uri: { fsPath: '/yard/boiler/relay.c' } }],
      },
      {
        type: 'ai',
        id: 'era-a-a1',
        messageType: 3,
        text: 'Shown: the relay opens.',
        rawText: 'The relay opens.',
        modelType: 'claude-3.5-sonnet',
        codeBlocks: [{ content: 'close_relay();', languageId: 'c' }],
      },
      { type: 'user', text: 'And then?' },
      { type: 'ai', text: 'It cools down.', modelType: 'default' },
      {
        type: 'user',
        id: 'era-a-draft',
        messageType: 2,
        text: '',
        followup: true,
        fileSelections: [{ uri: { fsPath: '/yard/boiler/valve.c' } }],
      },
    ],
  },
  { tabId: 'era-a-tab-2', chatTitle: 'New Chat', bubbles: [], lastSendTime: at(2) },
]

const tabChats: readonly EraChat[] = [
  {
    id: 'era-a-tab-1',
    title: 'Why the boiler stops',
    format: 'tab',
    createdAtMs: null,
    updatedAtMs: at(1),
    messages: [
      { id: 'era-a-u1', role: 'user', text: 'Why does the boiler stop?' },
      { id: 'era-a-a1', role: 'assistant', text: 'The relay opens.' },
      { id: null, role: 'user', text: 'And then?' },
      { id: null, role: 'assistant', text: 'It cools down.' },
    ],
  },
  { id: 'era-a-tab-2', title: 'New Chat', format: 'tab', createdAtMs: null, updatedAtMs: at(2), messages: [] },
]

export const eraTabs = eraOf({
  name: 'A: tabs',
  workspaceId: 'eraatabs',
  rootUri: 'file:///yard/boiler',
  chats: tabChats,
  json: { folder: 'file:///yard/boiler' },
  items: { 'workbench.panel.aichat.view.aichat.chatdata': { tabs, selectedTabId: 'era-a-tab-1' } },
})

const eraOldTabs = eraOf({
  name: 'A: tabs under the older key',
  workspaceId: 'eraaoldtabs',
  rootUri: 'file:///yard/kiln/kiln.code-workspace',
  chats: [
    {
      id: 'era-a-old',
      title: 'Kiln curve',
      format: 'tab',
      createdAtMs: null,
      updatedAtMs: null,
      messages: [
        { id: 'era-a-old-u', role: 'user', text: 'Draw the firing curve' },
        { id: 'era-a-old-a', role: 'assistant', text: 'Up to 1240 degrees.' },
      ],
    },
  ],
  json: { configuration: 'file:///yard/kiln/kiln.code-workspace' },
  items: {
    'workbench.panel.chat.view.chat.chatdata': {
      tabs: [
        {
          tabId: 'era-a-old',
          chatTitle: 'Kiln curve',
          bubbles: [
            { type: 'user', id: 'era-a-old-u', delegate: { a: 'Draw the firing curve' } },
            { type: 'ai', id: 'era-a-old-a', rawText: 'Up to 1240 degrees.' },
          ],
        },
      ],
    },
  },
})

const inlineChat = (n: number): EraChat => ({
  id: `era-b-${n}`,
  title: `Loom ${n}`,
  format: 'inline',
  createdAtMs: at(2 + n),
  updatedAtMs: at(3 + n),
  messages: Array.from({ length: 2 * n }, (_, ordinal) => ({
    id: `era-b-${n}-${ordinal}`,
    role: ordinal % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: `loom ${n} says ${ordinal}`,
  })),
})

const inlineChats = [inlineChat(1), inlineChat(2), inlineChat(3)]

export const eraInline = eraOf({
  name: 'B: whole composers',
  workspaceId: 'erabinline',
  rootUri: 'file:///yard/loom',
  chats: inlineChats,
  json: { folder: 'file:///yard/loom/' },
  items: {
    'composer.composerData': {
      allComposers: inlineChats.map(({ id, title, createdAtMs, updatedAtMs, messages }) => ({
        composerId: id,
        name: title,
        createdAt: createdAtMs,
        lastUpdatedAt: updatedAtMs,
        text: 'never sent',
        conversation: messages.map((message) => ({
          bubbleId: message.id,
          type: message.role === 'user' ? 1 : 2,
          text: message.text,
        })),
      })),
      selectedComposerId: 'era-b-1',
      composerDataVersion: 1,
    },
  },
})

const headIds = ['era-d-1', 'era-d-2']

const eraHeads = eraOf({
  name: 'D: heads',
  workspaceId: 'eradheads',
  rootUri: 'vscode-remote://ssh-remote%2Bforge/yard/anvil',
  headIds,
  openIds: ['era-d-1'],
  json: { folder: 'vscode-remote://ssh-remote%2Bforge/yard/anvil' },
  items: {
    'composer.composerData': {
      allComposers: headIds.map((composerId) => ({
        type: 'head',
        composerId,
        name: `Head ${composerId}`,
        createdAt: at(10),
        lastUpdatedAt: at(11),
        unifiedMode: 'agent',
        createdOnBranch: 'main',
        totalLinesAdded: 12,
        totalLinesRemoved: 3,
      })),
      selectedComposerIds: ['era-d-1'],
    },
  },
})

const eraMigrated = eraOf({
  name: 'E: migrated, without a list',
  workspaceId: 'eraemigrated',
  rootUri: 'file:///c:/yard/lathe',
  openIds: ['era-e-1', 'era-e-2', 'era-e-3', 'era-e-4'],
  json: { folder: 'file:///c%3A/yard/lathe' },
  items: {
    'composer.composerData': {
      selectedComposerIds: ['era-e-1'],
      lastFocusedComposerIds: ['era-e-1', 'era-e-2'],
      hasMigratedComposerData: true,
      hasMigratedMultipleComposers: true,
    },
    'workbench.panel.composerChatViewPane': { 'workbench.panel.aichat.view.era-e-3': { collapsed: false } },
    'workbench.panel.composerChatViewPane.0b9c1d2e-0000-4000-8000-000000000001': {
      'workbench.panel.aichat.view.era-e-4': { collapsed: false, isHidden: false },
    },
    'workbench.panel.composerChatViewPane.0b9c1d2e-0000-4000-8000-000000000001.hidden': {
      'workbench.panel.aichat.view.era-e-hidden': {},
    },
  },
})

const promptTexts = ['plane the board', 'sand it', 'plane the board']

export const eraPrompts = eraOf({
  name: 'prompts alone',
  workspaceId: 'eraprompts',
  rootUri: 'file:///yard/plane',
  chats: [
    {
      id: 'prompts-eraprompts',
      title: null,
      format: 'prompts',
      createdAtMs: null,
      updatedAtMs: null,
      messages: promptTexts.map((text) => ({ id: null, role: 'user', text })),
    },
  ],
  json: { folder: 'file:///yard/plane' },
  items: { 'aiService.prompts': promptTexts.map((text) => ({ text, commandType: 4 })) },
})

export const workspaceEras: readonly Era[] = [eraTabs, eraOldTabs, eraInline, eraHeads, eraMigrated, eraPrompts]
