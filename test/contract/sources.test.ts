import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliStoreSources } from '../../src/indexer/sources/cli-store/index.ts'
import { composerKvSource } from '../../src/indexer/sources/composer-kv/index.ts'
import { globalItemsSource } from '../../src/indexer/sources/global-items/index.ts'
import { trackingSources } from '../../src/indexer/sources/tracking/index.ts'
import { transcriptSources } from '../../src/indexer/sources/transcripts/index.ts'
import { workspaceItemsSources } from '../../src/indexer/sources/workspace-items/index.ts'
import { CliStore, cliFolder, encodeState } from '../../src/sample/cli-store.ts'
import { CursorHome, headers, type Store } from '../../src/sample/cursor-home.ts'
import { assistant, call, encodeArchive, result, say, summary, user, writeTurn } from '../helpers/eras/cli-store.ts'
import { agentProjects, headerListOf30, headerTableOf319 } from '../helpers/eras/global-items.ts'
import { TrackingStore } from '../helpers/eras/tracking.ts'
import { line, lines, query, said, trust, writeTranscript } from '../helpers/eras/transcripts.ts'
import { diarySources } from './made-up/index.ts'
import { describeSource, type SourceCase } from './source-contract.ts'

let open: Store | null = null

const composerKv: SourceCase = {
  name: "Cursor's global store",
  write(root) {
    open = new CursorHome(root).global()
    open.chat('c1', { name: 'Orchard', fullConversationHeadersOnly: headers(['m1', 'm2']) })
    open.message('c1', 'm1', { type: 1, text: 'plant an appletree' })
    open.message('c1', 'm2', { type: 2, text: 'planted a peartree' })
    open.chat('c2', { conversation: [{ bubbleId: 'i1', type: 1, text: 'inline plumtree' }] })
    open.message('c3', 'o1', { type: 1, text: 'without a chat row: figtree' })
    return [
      { id: 'c1', title: 'Orchard', words: ['appletree', 'peartree'] },
      { id: 'c2', words: ['plumtree'] },
      { id: 'c3', words: ['figtree'] },
    ]
  },
  sources: (root) => [composerKvSource(join(root, 'Cursor', 'User'))],
  change() {
    open?.message('c1', 'm3', { type: 1, text: 'and a cherrytree' })
    open?.delete('bubbleId:c3:o1')
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil() {
    open?.put('bubbleId:c1:m9', '{"type":1,"text":"cut o')
  },
  release() {
    open?.close()
    open = null
  },
}

const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
const bubble = (id: string, type: 'user' | 'ai', text: string) => ({ id, type, messageType: 2, text })
const tab = (tabId: string, chatTitle: string, ...bubbles: readonly object[]) => ({ tabId, chatTitle, bubbles })

const workspaceItems: SourceCase = {
  name: "a workspace's store",
  write(root) {
    open = new CursorHome(root).workspace('ws1', { folder: 'file:///w/orchard' })
    const first = tab('t1', 'Orchard', bubble('b1', 'user', 'plant an appletree'), bubble('b2', 'ai', 'a peartree'))
    open.item(TABS, { tabs: [first, tab('t2', '', bubble('b1', 'user', 'where is the figtree'))] })
    open.item('aiService.prompts', [{ text: 'a lost plumtree', commandType: 4 }])
    return [
      { id: 't1', title: 'Orchard', words: ['appletree', 'peartree'] },
      { id: 't2', words: ['figtree'] },
      { id: 'prompts-ws1', words: ['plumtree'] },
    ]
  },
  sources: (root) => workspaceItemsSources(join(root, 'Cursor', 'User')),
  change() {
    const first = tab('t1', 'Orchard', bubble('b1', 'user', 'plant an appletree'), bubble('b2', 'ai', 'a peartree'))
    open?.item(TABS, { tabs: [first, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil() {
    open?.item(TABS, '{"tabs":[{"tabId":"t1","bubb')
  },
  release() {
    open?.close()
    open = null
  },
}

const globalTabs: SourceCase = {
  name: "tabs in Cursor's global store",
  write(root) {
    open = new CursorHome(root).global()
    const draft = { ...bubble('b3', 'user', ''), followup: true, fileSelections: [{ uri: { fsPath: '/w/draft.c' } }] }
    const first = tab('t1', 'Orchard', bubble('b1', 'user', 'plant an appletree'), bubble('b2', 'ai', 'a peartree'))
    open.item(TABS, { tabs: [{ ...first, bubbles: [...first.bubbles, draft] }] })
    open.item('workbench.panel.chat.view.chat.chatdata', {
      tabs: [tab('t2', '', { type: 'user', text: 'where is the figtree' })],
    })
    headerListOf30.write(open.db)
    return [
      { id: 't1', title: 'Orchard', words: ['appletree', 'peartree'] },
      { id: 't2', words: ['figtree'] },
    ]
  },
  sources: (root) => [globalItemsSource(join(root, 'Cursor', 'User'))],
  change() {
    const first = tab('t1', 'Orchard', bubble('b1', 'user', 'plant an appletree'), bubble('b2', 'ai', 'a peartree'))
    open?.item(TABS, { tabs: [first, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
    open?.db.exec(`delete from ItemTable where key = 'workbench.panel.chat.view.chat.chatdata'`)
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil() {
    open?.item(TABS, '{"tabs":[{"tabId":"t1","bubb')
  },
  release() {
    open?.close()
    open = null
  },
}

/** They hold no chats: what they say of them is told by the chat's own store, or waits for it. */
const globalItems: SourceCase = {
  name: "the lists in Cursor's global store",
  write(root) {
    open = new CursorHome(root).global()
    for (const era of [headerListOf30, headerTableOf319, agentProjects]) era.write(open.db)
    return []
  },
  sources: (root) => [globalItemsSource(join(root, 'Cursor', 'User'))],
  spoil() {
    open?.item('composer.composerHeaders', '{"allComposers":[{"composerId":"list-1","na')
  },
  release() {
    open?.close()
    open = null
  },
}

const cursorHome = (root: string): string => join(root, '.cursor')
const asked = (text: string) => line('user', said(query(text)))
const transcript = (root: string, file: string, content: string): string =>
  writeTranscript(cursorHome(root), 'w-orchard', file, content)

const transcripts: SourceCase = {
  name: 'what the agent writes down',
  write(root) {
    trust(cursorHome(root), 'w-orchard', '/w/orchard')
    transcript(root, 'flat.jsonl', lines(asked('plant an appletree'), line('assistant', said('planted a peartree'))))
    transcript(root, 'nested/nested.jsonl', lines(asked('where is the figtree')))
    transcript(root, 'old.txt', `user:\n${query('count the plumtree')}\n\nassistant:\nNext to a quincetree.\n`)
    const patch = '[Tool call] ApplyPatch*** Begin Patch\n+a medlartree\n*** End Patch\n\n[Tool result] ApplyPatch\n'
    transcript(
      root,
      'patch.txt',
      `user:\n${query('draw the hedge')}\n\nassistant:\n<think>an elmtree</think>\n${patch}`,
    )
    const records = [
      { role: 'user', text: query('prune the ashtree') },
      { role: 'assistant', text: 'near the oaktree', toolCalls: [{ toolName: 'Saw', args: { limb: 'yewtree' } }] },
      { role: 'tool', toolResult: { toolName: 'Saw' } },
    ]
    transcript(root, 'list.json', JSON.stringify(records))
    transcript(root, 'flat/subagents/sent.txt', `user:\n${query('shake the almondtree')}\n`)
    return [
      { id: 'flat', words: ['appletree', 'peartree'] },
      { id: 'nested', words: ['figtree'] },
      { id: 'old', words: ['plumtree', 'quincetree'] },
      { id: 'patch', words: ['hedge', 'elmtree', 'medlartree'] },
      { id: 'list', words: ['ashtree', 'oaktree', 'yewtree'] },
      { id: 'sent', words: ['almondtree'] },
    ]
  },
  sources: (root) => transcriptSources(cursorHome(root)),
  change(root) {
    transcript(root, 'later/later.jsonl', lines(asked('a cherrytree')))
    rmSync(join(cursorHome(root), 'projects', 'w-orchard', 'agent-transcripts', 'nested'), { recursive: true })
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(root) {
    const before = lines(asked('plant an appletree'))
    const after = lines(line('assistant', said('planted a peartree')))
    transcript(root, 'flat.jsonl', `${before}{"role":"assistant","message":{"conte\n${after}`)
  },
}

const cliStores: CliStore[] = []

/** Makes these messages the newest state of a store. */
function tell(store: CliStore, ...messages: readonly unknown[]): CliStore {
  cliStores.push(store)
  const entries = messages.map((message) => store.blob(message))
  store.facts({ latestRootBlobId: store.blob(encodeState({ entries })), name: 'Orchard' })
  return store
}

/** A chat of which an archive names a part, and the turns alone tell the very beginning. */
function summarised(store: CliStore): void {
  cliStores.push(store)
  const archived = [user('and the hazeltree'), assistant(say('it stands by the walnuttree'))]
  const own = [summary('what was planted'), user('prune the medlartree')]
  const entries = own.map((message) => store.blob(message))
  const archives = [
    store.blob(
      encodeArchive(
        archived.map((message) => store.blob(message)),
        entries[0],
      ),
    ),
  ]
  const prompts = ['where is the almondtree', 'and the hazeltree', 'prune the medlartree']
  const turns = prompts.map((prompt) => writeTurn(store, { prompt, steps: [] }))
  store.facts({ latestRootBlobId: store.blob(encodeState({ entries, archives, turns, oldTurns: turns })) })
}

const cliStore = (root: string, chatId: string): CliStore =>
  new CliStore(cliFolder(cursorHome(root), '/w/orchard', chatId))
const orchard = [
  user('plant an appletree'),
  assistant(say('planted a peartree'), call('c1', 'Shell', { command: 'dig' })),
  result('c1', 'Shell', 'beside a quincetree'),
]

const cli: SourceCase = {
  name: 'the command line',
  write(root) {
    tell(cliStore(root, 'a'), ...orchard)
    tell(cliStore(root, 'b'), user('where is the figtree'))
    tell(new CliStore(join(cursorHome(root), 'acp-sessions', 'c')), user('count the plumtree'))
    summarised(cliStore(root, 'd'))
    return [
      { id: 'a', title: 'Orchard', words: ['appletree', 'peartree', 'quincetree'] },
      { id: 'b', words: ['figtree'] },
      { id: 'c', words: ['plumtree'] },
      { id: 'd', words: ['almondtree', 'hazeltree', 'walnuttree', 'medlartree'] },
    ]
  },
  sources: (root) => cliStoreSources(cursorHome(root)),
  change(root) {
    tell(cliStore(root, 'a'), ...orchard, user('and a cherrytree'))
    for (const store of cliStores) store.close()
    rmSync(cliFolder(cursorHome(root), '/w/orchard', 'b'), { recursive: true })
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(root) {
    tell(cliStore(root, 'a'), Buffer.from('{"role":"user","cont'), ...orchard)
  },
  release() {
    for (const store of cliStores.splice(0)) store.close()
  },
}

let tracked: TrackingStore | null = null

/** It holds no chats either. */
const tracking: SourceCase = {
  name: "Cursor's record of its code",
  write(root) {
    tracked = new TrackingStore(cursorHome(root))
    for (let hour = 0; hour < 3; hour += 1) {
      tracked.record({ conversationId: 'a', timestamp: Date.UTC(2026, 1, 2, hour), model: 'm' })
    }
    tracked.score('ab'.repeat(20), 3)
    return []
  },
  sources: (root) => trackingSources(cursorHome(root)),
  spoil() {
    tracked?.record({ conversationId: Buffer.from('a'), timestamp: Date.UTC(2026, 1, 2, 9) })
  },
  release() {
    tracked?.close()
    tracked = null
  },
}

const diaries: SourceCase = {
  name: 'a made-up format',
  write(root) {
    mkdirSync(join(root, 'diaries'), { recursive: true })
    writeFileSync(join(root, 'diaries', 'monday'), 'diary\n> plant an appletree\nplanted a peartree')
    writeFileSync(join(root, 'diaries', 'tuesday'), 'diary\n> where is the figtree')
    return [
      { id: 'monday', words: ['appletree', 'peartree'] },
      { id: 'tuesday', words: ['figtree'] },
    ]
  },
  sources: diarySources,
  change(root) {
    writeFileSync(join(root, 'diaries', 'wednesday'), 'diary\n> a cherrytree')
    rmSync(join(root, 'diaries', 'tuesday'))
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil: (root) => writeFileSync(join(root, 'diaries', 'tuesday'), 'no diary'),
}

for (const format of [composerKv, globalItems, globalTabs, workspaceItems, transcripts, cli, tracking, diaries])
  describeSource(format)
