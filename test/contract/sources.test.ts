import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliStoreSources } from '../../src/indexer/sources/cli-store/index.ts'
import { composerKvSource } from '../../src/indexer/sources/composer-kv/index.ts'
import { globalItemsSource } from '../../src/indexer/sources/global-items/index.ts'
import { agentBlobsSource } from '../../src/indexer/sources/named-blobs/agent-blobs.ts'
import { trackingSources } from '../../src/indexer/sources/tracking/index.ts'
import { transcriptSources } from '../../src/indexer/sources/transcripts/index.ts'
import { workspaceItemsSources } from '../../src/indexer/sources/workspace-items/index.ts'
import type { Role } from '../../src/model/message.ts'
import { cliFolder, CliStore, CursorHome, encodeState, headers, type Store } from '../helpers/cursor.ts'
import { asBase64, keepBlob, stateOf, stub, toolResult } from '../helpers/blob-store.ts'
import {
  assistant,
  call,
  encodeArchive,
  result,
  say,
  shellStep,
  summary,
  textStep,
  user,
  writeTurn,
} from '../helpers/eras/cli-store.ts'
import { agentProjects, headerListOf30, headerTableOf319 } from '../helpers/eras/global-items.ts'
import { eraOutputs, rowEras, writeNoise } from '../helpers/eras/global-rows.ts'
import { TrackingStore } from '../helpers/eras/tracking.ts'
import { line, lines, query, said, trust, writeTranscript } from '../helpers/eras/transcripts.ts'
import { diarySources } from './made-up/index.ts'
import { describeSource, type ExpectedChat, type SourceCase } from './source-contract.ts'

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
    for (const era of rowEras) era.write(open)
    writeNoise(open)
    return [
      { id: 'c1', title: 'Orchard', words: ['appletree', 'peartree'] },
      { id: 'c2', words: ['plumtree'] },
      { id: 'c3', words: ['figtree'] },
      ...rowEras,
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

/** The outputs that rows leave out, and the thread of a chat whose rows are gone. */
const agentBlobs: SourceCase = {
  name: 'what was sent to the model',
  write(root) {
    const store = new CursorHome(root).global()
    open = store
    eraOutputs.write(store)
    store.chat('c1', { fullConversationHeadersOnly: headers(['m1']) })
    store.message('c1', 'm1', { type: 1, text: 'where is the figtree' })
    const thread = [user('plant an appletree'), user('and a peartree')].map((message) => keepBlob(store, message))
    store.chat('c2', { fullConversationHeadersOnly: headers(['m1']), conversationState: asBase64(stateOf(thread)) })
    return [eraOutputs, { id: 'c1', words: ['figtree'] }, { id: 'c2', words: ['appletree', 'peartree'] }]
  },
  sources: (root) => [composerKvSource, agentBlobsSource].map((source) => source(join(root, 'Cursor', 'User'))),
  change() {
    if (open === null) throw new Error('nothing is written')
    const { id } = eraOutputs
    // A summary removed all but the newest messages from the list, the archive and the turns.
    const state = stateOf([keepBlob(open, toolResult('late', 'a cherrytree'))])
    const fullConversationHeadersOnly = headers(['asked', 'in-list', 'in-archive', 'in-turn', 'late'])
    open.chat(id, { fullConversationHeadersOnly, conversationState: asBase64(state) })
    open.message(id, 'in-turn', { ...stub('in-turn'), text: 'written again' })
    open.message(id, 'late', stub('late'))
    open.delete('bubbleId:c1:m1')
    return { come: ['cherrytree', 'again', 'nineteen', 'twentyone', 'thirtytwo'], gone: ['figtree'] }
  },
  spoil() {
    if (open !== null) open.delete(`agentKv:blob:${keepBlob(open, user('and a peartree'))}`)
  },
  release() {
    open?.close()
    open = null
  },
}

const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
const bubble = (id: string, type: 'user' | 'ai', text: string) => ({ id, type, messageType: 2, text })
const tab = (tabId: string, chatTitle: string, ...bubbles: readonly object[]) => ({ tabId, chatTitle, bubbles })
const draft = { ...bubble('b3', 'user', ''), followup: true, fileSelections: [{ uri: { fsPath: '/w/draft.c' } }] }
const withDraft = tab(
  't1',
  'Orchard',
  bubble('b1', 'user', 'plant an appletree'),
  bubble('b2', 'ai', 'a peartree'),
  draft,
)
const ofTab: ExpectedChat = {
  id: 't1',
  title: 'Orchard',
  words: ['appletree', 'peartree'],
  messages: [{ role: 'user' }, { role: 'assistant' }],
}

const workspaceItems: SourceCase = {
  name: "a workspace's store",
  write(root) {
    open = new CursorHome(root).workspace('ws1', { folder: 'file:///w/orchard' })
    open.item(TABS, { tabs: [withDraft, tab('t2', '', bubble('b1', 'user', 'where is the figtree'))] })
    open.item('aiService.prompts', [{ text: 'a lost plumtree', commandType: 4 }])
    return [ofTab, { id: 't2', words: ['figtree'] }, { id: 'prompts-ws1', words: ['plumtree'] }]
  },
  sources: (root) => workspaceItemsSources(join(root, 'Cursor', 'User')),
  change() {
    open?.item(TABS, { tabs: [withDraft, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
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
    open.item(TABS, { tabs: [withDraft] })
    open.item('workbench.panel.chat.view.chat.chatdata', {
      tabs: [tab('t2', '', { type: 'user', text: 'where is the figtree' })],
    })
    headerListOf30.write(open.db)
    return [ofTab, { id: 't2', words: ['figtree'] }]
  },
  sources: (root) => [globalItemsSource(join(root, 'Cursor', 'User'))],
  change() {
    open?.item(TABS, { tabs: [withDraft, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
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

/** They contain no chats. Their facts are added to chats of other stores, or wait for them. */
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
    // The quoted text looks like a third message.
    const sawn = 'near the oaktree\n[Tool call] Saw\n  limb=yewtree\n\nassistant:\nquoted\n\n[Tool result] Saw'
    transcript(root, 'list.txt', `user:\n${query('prune the ashtree')}\n\nassistant:\n${sawn}\n`)
    const write =
      '[Tool call] Write\n  path=/w/plan.md\n  contents=# Plan\nWater the hazeltree.\n\n```sh\nrake almonds\n'
    transcript(
      root,
      'lines.txt',
      `user:\n${query('plan a hedgerow')}\n\nassistant:\nI write.\n${write}\nuser:\n${query('and a cedartree')}\n`,
    )
    transcript(root, 'flat/subagents/sent.txt', `user:\n${query('shake the almondtree')}\n`)
    return [
      { id: 'flat', words: ['appletree', 'peartree'] },
      { id: 'nested', words: ['figtree'] },
      { id: 'old', words: ['plumtree', 'quincetree'] },
      { id: 'patch', words: ['hedge', 'elmtree', 'medlartree'] },
      {
        id: 'list',
        words: ['ashtree', 'oaktree', 'tool : yewtree'],
        messages: [{ role: 'user' }, { role: 'assistant' }],
      },
      {
        id: 'lines',
        words: ['hedgerow', 'tool : hazeltree', 'tool : almonds', 'text : cedartree'],
        messages: [
          { role: 'user' },
          { role: 'assistant', parts: [{ text: 'I write.' }, { name: 'Write' }] },
          { role: 'user' },
        ],
      },
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

const at = (seconds: number): number => Date.UTC(2026, 5, 2) + seconds * 1000
const dated = (role: Role, seconds: number) => ({
  role,
  createdAt: new Date(at(seconds)).toISOString(),
  createdAtSource: 'message',
})

/** A chat of which an archive names a part. Only the turns have its very beginning; they also have the times. */
function summarised(store: CliStore): void {
  cliStores.push(store)
  const blob = (message: unknown): string => store.blob(message)
  const measure = call('c2', 'Shell', { command: 'measure' })
  const answer = assistant(say('it stands by the walnuttree'), measure)
  const archived = [user('and the hazeltree'), answer, result('c2', 'Shell', 'behind a mulberrytree')]
  const entries = [summary('what was planted'), user('prune the medlartree')].map(blob)
  const archives = [store.blob(encodeArchive(archived.map(blob), entries[0]))]
  const turns = [
    { prompt: 'where is the almondtree', atMs: at(0), steps: [textStep('near the cedartree', at(1))] },
    { prompt: 'and the hazeltree', atMs: at(2), steps: [textStep('it stands by the walnuttree', at(3))] },
    { prompt: 'prune the medlartree', atMs: at(5), steps: [] },
  ].map((turn) => writeTurn(store, turn))
  store.facts({ latestRootBlobId: store.blob(encodeState({ entries, archives, turns, oldTurns: turns })) })
}

/** Replaces everything in a chat by a summary, so that only a turn still names one of its calls. */
function leaveToTurns(store: CliStore, prompt: string, callId: string): void {
  cliStores.push(store)
  const entries = [store.blob(summary('what was dug')), store.blob(user('and then'))]
  const turns = [
    writeTurn(store, { prompt, steps: [shellStep('dig', callId)] }),
    writeTurn(store, { prompt: 'and then', steps: [] }),
  ]
  store.facts({ latestRootBlobId: store.blob(encodeState({ entries, turns, oldTurns: turns })), name: 'Orchard' })
}

const cliStore = (root: string, chatId: string): CliStore =>
  new CliStore(cliFolder(cursorHome(root), '/w/orchard', chatId))
const roots = result('c3', 'Shell', 'roots of a beechtree')
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
    tell(cliStore(root, 'e'), user('dig by the rowantree'), assistant(call('c3', 'Shell', { command: 'dig' })), roots)
    return [
      { id: 'a', title: 'Orchard', words: ['appletree', 'peartree', 'quincetree'] },
      { id: 'b', words: ['figtree'] },
      { id: 'c', words: ['plumtree'] },
      {
        id: 'd',
        words: ['almondtree', 'cedartree', 'hazeltree', 'walnuttree', 'tool : mulberrytree', 'medlartree'],
        messages: [
          dated('user', 0),
          dated('assistant', 1),
          dated('user', 2),
          dated('assistant', 3),
          { isSimulated: true },
          dated('user', 5),
        ],
      },
      { id: 'e', words: ['rowantree', 'tool : beechtree'] },
    ]
  },
  sources: (root) => cliStoreSources(cursorHome(root)),
  change(root) {
    tell(cliStore(root, 'a'), ...orchard, user('and a cherrytree'))
    leaveToTurns(cliStore(root, 'e'), 'dig by the rowantree', 'c3')
    for (const store of cliStores) store.close()
    rmSync(cliFolder(cursorHome(root), '/w/orchard', 'b'), { recursive: true })
    return { come: ['cherrytree', 'rowantree', 'tool : beechtree', 'dug'], gone: ['figtree'] }
  },
  spoil(root) {
    tell(cliStore(root, 'a'), Buffer.from('{"role":"user","cont'), ...orchard)
  },
  release() {
    for (const store of cliStores.splice(0)) store.close()
  },
}

let tracked: TrackingStore | null = null

/** It contains no chats either. */
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

for (const format of [
  composerKv,
  agentBlobs,
  globalItems,
  globalTabs,
  workspaceItems,
  transcripts,
  cli,
  tracking,
  diaries,
])
  describeSource(format)
