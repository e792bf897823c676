import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Role } from '../../src/model/message.ts'
import { cliFolder, CliStore, encodeState, headers, type CursorHome, type Store } from '../helpers/cursor.ts'
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
import { agentProjects, headerListOf30, headerTableOf319, type GlobalEra } from '../helpers/eras/global-items.ts'
import { eraOutputs, rowEras, writeNoise } from '../helpers/eras/global-rows.ts'
import { TrackingStore } from '../helpers/eras/tracking.ts'
import {
  line,
  lines,
  query,
  said,
  trust,
  writeOutput,
  writePlan,
  writeTranscript,
} from '../helpers/eras/transcripts.ts'
import { describeSource, type ExpectedChat, type SourceCase } from './source-contract.ts'

const composerKv: SourceCase = {
  name: "Cursor's global store",
  write(home) {
    const store = home.global()
    store.chat('c1', { name: 'Orchard', fullConversationHeadersOnly: headers(['m1', 'm2']) })
    store.message('c1', 'm1', { type: 1, text: 'plant an appletree' })
    store.message('c1', 'm2', { type: 2, text: 'planted a peartree' })
    store.chat('c2', { conversation: [{ bubbleId: 'i1', type: 1, text: 'inline plumtree' }] })
    store.message('c3', 'o1', { type: 1, text: 'without a chat row: figtree' })
    for (const era of rowEras) era.write(store)
    writeNoise(store)
    return [
      { id: 'c1', title: 'Orchard', words: ['appletree', 'peartree'] },
      { id: 'c2', words: ['plumtree'] },
      { id: 'c3', words: ['figtree'] },
      ...rowEras,
    ]
  },
  change(home) {
    const store = home.global()
    store.message('c1', 'm3', { type: 1, text: 'and a cherrytree' })
    store.delete('bubbleId:c3:o1')
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(home) {
    const store = home.global()
    store.put('bubbleId:c1:m9', '{"type":1,"text":"cut o')
  },
}

/** The outputs that rows leave out, and the thread of a chat whose rows are gone. */
const agentBlobs: SourceCase = {
  name: 'what was sent to the model',
  write(home) {
    const store = home.global()
    eraOutputs.write(store)
    store.chat('c1', { fullConversationHeadersOnly: headers(['m1']) })
    store.message('c1', 'm1', { type: 1, text: 'where is the figtree' })
    const thread = [user('plant an appletree'), user('and a peartree')].map((message) => keepBlob(store, message))
    store.chat('c2', { fullConversationHeadersOnly: headers(['m1']), conversationState: asBase64(stateOf(thread)) })
    return [eraOutputs, { id: 'c1', words: ['figtree'] }, { id: 'c2', words: ['appletree', 'peartree'] }]
  },
  change(home) {
    const store = home.global()
    const { id } = eraOutputs
    // A summary removed all but the newest messages from the list, the archive and the turns.
    const state = stateOf([keepBlob(store, toolResult('late', 'a cherrytree'))])
    const fullConversationHeadersOnly = headers(['asked', 'in-list', 'in-archive', 'in-turn', 'late'])
    store.chat(id, { fullConversationHeadersOnly, conversationState: asBase64(state) })
    store.message(id, 'in-turn', { ...stub('in-turn'), text: 'written again' })
    store.message(id, 'late', stub('late'))
    store.delete('bubbleId:c1:m1')
    return { come: ['cherrytree', 'again', 'nineteen', 'twentyone', 'thirtytwo'], gone: ['figtree'] }
  },
  spoil(home) {
    const store = home.global()
    store.delete(`agentKv:blob:${keepBlob(store, user('and a peartree'))}`)
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

const orchardWindow = (home: CursorHome): Store => home.workspace('ws1', { folder: 'file:///w/orchard' })

const workspaceItems: SourceCase = {
  name: "a workspace's store",
  write(home) {
    const store = orchardWindow(home)
    store.item(TABS, { tabs: [withDraft, tab('t2', '', bubble('b1', 'user', 'where is the figtree'))] })
    store.item('aiService.prompts', [{ text: 'a lost plumtree', commandType: 4 }])
    return [ofTab, { id: 't2', words: ['figtree'] }, { id: 'prompts-ws1', words: ['plumtree'] }]
  },
  change(home) {
    const store = orchardWindow(home)
    store.item(TABS, { tabs: [withDraft, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(home) {
    const store = orchardWindow(home)
    store.item(TABS, '{"tabs":[{"tabId":"t1","bubb')
  },
}

const globalTabs: SourceCase = {
  name: "tabs in Cursor's global store",
  write(home) {
    const store = home.global()
    store.item(TABS, { tabs: [withDraft] })
    store.item('workbench.panel.chat.view.chat.chatdata', {
      tabs: [tab('t2', '', { type: 'user', text: 'where is the figtree' })],
    })
    headerListOf30.write(store.db)
    const inList = listedBy(headerListOf30)
    return [ofTab, { id: 't2', words: ['figtree'] }, ...inList]
  },
  change(home) {
    const store = home.global()
    store.item(TABS, { tabs: [withDraft, tab('t3', '', bubble('b1', 'user', 'a cherrytree'))] })
    store.db.exec(`delete from ItemTable where key = 'workbench.panel.chat.view.chat.chatdata'`)
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(home) {
    const store = home.global()
    store.item(TABS, '{"tabs":[{"tabId":"t1","bubb')
  },
}

const lists = [headerListOf30, headerTableOf319, agentProjects]
const listedBy = (...eras: readonly GlobalEra[]): readonly ExpectedChat[] =>
  eras.flatMap(({ heads }) => heads.flatMap(({ chatId: id, name }) => (name === null ? [] : { id, words: [] })))

/** They contain no messages. Their facts are added to chats of other stores, or stand alone. */
const globalItems: SourceCase = {
  name: "the lists in Cursor's global store",
  write(home) {
    const store = home.global()
    for (const era of lists) era.write(store.db)
    return listedBy(...lists)
  },
  spoil(home) {
    const store = home.global()
    store.item('composer.composerHeaders', '{"allComposers":[{"composerId":"list-1","na')
  },
}

const cursorHome = (home: CursorHome): string => join(home.root, '.cursor')
const asked = (text: string) => line('user', said(query(text)))
const transcript = (home: CursorHome, file: string, content: string): string =>
  writeTranscript(cursorHome(home), 'w-orchard', file, content)

const transcripts: SourceCase = {
  name: 'what the agent writes down',
  write(home) {
    trust(cursorHome(home), 'w-orchard', '/w/orchard')
    transcript(home, 'flat.jsonl', lines(asked('plant an appletree'), line('assistant', said('planted a peartree'))))
    transcript(home, 'nested/nested.jsonl', lines(asked('where is the figtree')))
    transcript(home, 'old.txt', `user:\n${query('count the plumtree')}\n\nassistant:\nNext to a quincetree.\n`)
    const patch = '[Tool call] ApplyPatch*** Begin Patch\n+a medlartree\n*** End Patch\n\n[Tool result] ApplyPatch\n'
    transcript(
      home,
      'patch.txt',
      `user:\n${query('draw the hedge')}\n\nassistant:\n<think>an elmtree</think>\n${patch}`,
    )
    const records = [
      { role: 'user', text: query('prune the ashtree') },
      { role: 'assistant', text: 'near the oaktree', toolCalls: [{ toolName: 'Saw', args: { limb: 'yewtree' } }] },
      { role: 'tool', toolResult: { toolName: 'Saw' } },
    ]
    transcript(home, 'list.json', JSON.stringify(records))
    // The quoted text looks like a third message.
    const sawn = 'near the oaktree\n[Tool call] Saw\n  limb=yewtree\n\nassistant:\nquoted\n\n[Tool result] Saw'
    transcript(home, 'list.txt', `user:\n${query('prune the ashtree')}\n\nassistant:\n${sawn}\n`)
    const write =
      '[Tool call] Write\n  path=/w/plan.md\n  contents=# Plan\nWater the hazeltree.\n\n```sh\nrake almonds\n'
    transcript(
      home,
      'lines.txt',
      `user:\n${query('plan a hedgerow')}\n\nassistant:\nI write.\n${write}\nuser:\n${query('and a cedartree')}\n`,
    )
    const path = writeOutput(cursorHome(home), 'w-orchard', 'a.txt', 'a long mapletree')
    const reads = line('assistant', { type: 'tool_use', name: 'Read', input: { path } })
    transcript(home, 'read.jsonl', lines(asked('read the larchtree'), reads))
    transcript(home, 'flat/subagents/sent.txt', `user:\n${query('shake the almondtree')}\n`)
    return [
      { id: 'flat', words: ['appletree', 'peartree'] },
      { id: 'nested', words: ['figtree'] },
      { id: 'old', words: ['plumtree', 'quincetree'] },
      { id: 'patch', words: ['hedge', 'elmtree', 'medlartree'] },
      {
        id: 'list',
        words: ['ashtree', 'oaktree', 'in:tool yewtree'],
        messages: [{ role: 'user' }, { role: 'assistant' }],
      },
      {
        id: 'lines',
        words: ['hedgerow', 'in:tool hazeltree', 'in:tool almonds', 'in:text cedartree'],
        messages: [
          { role: 'user' },
          { role: 'assistant', parts: [{ text: 'I write.' }, { name: 'Write' }] },
          { role: 'user' },
        ],
      },
      { id: 'sent', words: ['almondtree'] },
      { id: 'read', words: ['larchtree', 'in:tool mapletree'] },
    ]
  },
  change(home) {
    transcript(home, 'later/later.jsonl', lines(asked('a cherrytree')))
    rmSync(join(cursorHome(home), 'projects', 'w-orchard', 'agent-transcripts', 'nested'), { recursive: true })
    return { come: ['cherrytree'], gone: ['figtree'] }
  },
  spoil(home) {
    const before = lines(asked('plant an appletree'))
    const after = lines(line('assistant', said('planted a peartree')))
    transcript(home, 'flat.jsonl', `${before}{"role":"assistant","message":{"conte\n${after}`)
  },
}

const cliStores: CliStore[] = []
const closeAll = (): void => cliStores.splice(0).forEach((store) => store.close())

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

const cliStore = (home: CursorHome, chatId: string): CliStore =>
  new CliStore(cliFolder(cursorHome(home), '/w/orchard', chatId))
const roots = result('c3', 'Shell', 'roots of a beechtree')
const orchard = [
  user('plant an appletree'),
  assistant(say('planted a peartree'), call('c1', 'Shell', { command: 'dig' })),
  result('c1', 'Shell', 'beside a quincetree'),
]

const cli: SourceCase = {
  name: 'the command line',
  write(home) {
    tell(cliStore(home, 'a'), ...orchard)
    tell(cliStore(home, 'b'), user('where is the figtree'))
    tell(new CliStore(join(cursorHome(home), 'acp-sessions', 'c')), user('count the plumtree'))
    summarised(cliStore(home, 'd'))
    tell(cliStore(home, 'e'), user('dig by the rowantree'), assistant(call('c3', 'Shell', { command: 'dig' })), roots)
    closeAll()
    return [
      { id: 'a', title: 'Orchard', words: ['appletree', 'peartree', 'quincetree'] },
      { id: 'b', words: ['figtree'] },
      { id: 'c', words: ['plumtree'] },
      {
        id: 'd',
        words: ['almondtree', 'cedartree', 'hazeltree', 'walnuttree', 'in:tool mulberrytree', 'medlartree'],
        messages: [
          dated('user', 0),
          dated('assistant', 1),
          dated('user', 2),
          dated('assistant', 3),
          { isSimulated: true },
          dated('user', 5),
        ],
      },
      { id: 'e', words: ['rowantree', 'in:tool beechtree'] },
    ]
  },
  change(home) {
    tell(cliStore(home, 'a'), ...orchard, user('and a cherrytree'))
    leaveToTurns(cliStore(home, 'e'), 'dig by the rowantree', 'c3')
    closeAll()
    rmSync(cliFolder(cursorHome(home), '/w/orchard', 'b'), { recursive: true })
    return { come: ['cherrytree', 'rowantree', 'in:tool beechtree', 'dug'], gone: ['figtree'] }
  },
  spoil(home) {
    tell(cliStore(home, 'a'), Buffer.from('{"role":"user","cont'), ...orchard)
    closeAll()
  },
}

/** It contains no chats either. */
const tracking: SourceCase = {
  name: "Cursor's record of its code",
  write(home) {
    const store = new TrackingStore(cursorHome(home))
    for (let hour = 0; hour < 3; hour += 1) {
      store.record({ conversationId: 'a', timestamp: Date.UTC(2026, 1, 2, hour), model: 'm' })
    }
    store.score('ab'.repeat(20), 3)
    store.close()
    return []
  },
}

/** They are documents of a chat of the command line, which has no other place for them. */
const plans: SourceCase = {
  name: 'the files of plans',
  write(home) {
    const wrote = (name: string, plan: string) => call(name, 'CreatePlan', { name, plan })
    tell(
      cliStore(home, 'a'),
      user('plan an appletree'),
      assistant(wrote('Hedge', 'a peartree'), wrote('Fence', 'none')),
    )
    closeAll()
    writePlan(cursorHome(home), 'hedge_0a1b2c3d.plan.md', 'Hedge', 'a quincetree', { 'a figtree': 'pending' })
    writePlan(cursorHome(home), 'fence_0a1b2c3d.plan.md', "'Fence'", 'a plumtree')
    writePlan(cursorHome(home), 'pond_0a1b2c3d.plan.md', 'Pond', 'of no known chat')
    const words = ['in:text appletree', 'in:tool peartree', 'in:plan quincetree', 'in:plan plumtree', 'figtree']
    return [
      {
        id: 'a',
        words,
        messages: [{ role: 'user' }, {}, { parts: [{ title: 'Fence' }] }, { parts: [{ title: 'Hedge' }, {}] }],
      },
    ]
  },
  change(home) {
    writePlan(cursorHome(home), 'hedge_0a1b2c3d.plan.md', 'Hedge', 'a quincetree by the cherrytree')
    rmSync(join(cursorHome(home), 'plans', 'fence_0a1b2c3d.plan.md'))
    return { come: ['in:plan cherrytree'], gone: ['in:plan plumtree'] }
  },
  spoil(home) {
    writeFileSync(join(cursorHome(home), 'plans', 'hedge_0a1b2c3d.plan.md'), '')
  },
}

const formats = [composerKv, agentBlobs, globalItems, globalTabs, workspaceItems, transcripts, cli, tracking, plans]
for (const format of formats) describeSource(format)
