import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeChatRow, decodePaths } from '../../../src/indexer/sources/records/chat.ts'
import { decodeMessageEvidence } from '../../../src/indexer/sources/records/json.ts'
import { bytes, chatId, chatOf, decodeBubble, halfCharacter, halvedJson, makeId } from './rows.ts'
import { noFacts } from '../../helpers/mirror-writes.ts'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

test.each([
  ['{"name":', { kind: 'issue', reason: 'bad-json' }],
  ['[]', { kind: 'issue', reason: 'not-an-object' }],
  ['0', { kind: 'issue', reason: 'not-an-object' }],
])('a chat row %j is an issue', (text, expected) => {
  expect(decodeChatRow(Buffer.from(text), chatId, makeId)).toEqual(expected)
})

it('an empty chat row is a chat without facts', () => {
  expect(chatOf({})).toEqual({
    kind: 'chat',
    facts: { ...noFacts, branch: null, preview: null },
    outline: null,
    embedded: [],
    placeholders: new Map(),
    toolData: new Map(),
    evidence: [],
    paths: [],
    namesCopy: false,
    issue: null,
  })
})

describe('facts', () => {
  test.each(cases<[string, Record<string, unknown>, Record<string, unknown>]>('facts'))('%s', (_, fields, expected) => {
    expect(chatOf(fields).facts).toMatchObject(expected)
  })

  it('recognises drafts and subagents by their ids too', () => {
    expect(chatOf({}, 'empty-state-draft').facts.isDraft).toBe(true)
    expect(chatOf({}, 'task-call_1\nfc_2').facts.isSubagent).toBe(true)
  })

  it('never shows the unsent draft, a key or a signature', () => {
    const secret = 'CANARY'
    const row = {
      text: secret,
      richText: JSON.stringify({ root: { children: [{ text: secret }] } }),
      context: {
        fileSelections: [{ uri: `/${secret}` }],
        selections: [{ text: secret }],
        mentions: { fileSelections: { '/draft/mention': [] } },
      },
      speculativeSummarizationEncryptionKey: secret,
      blobEncryptionKey: secret,
      conversation: [{ bubbleId: 'a', text: 'said', thinking: { text: 't', signature: secret } }],
    }
    const { paths, ...chat } = chatOf(row)
    expect(JSON.stringify({ ...chat, toolData: [...chat.toolData] })).not.toContain(secret)
    expect(chat.embedded).toHaveLength(1)
    // The paths of the draft's files help to find the chat's project, and are used for nothing else.
    expect(paths).toEqual([`file:///${secret}`])
  })
})

test.each(writtenOut(cases<[string, Record<string, unknown>, object]>('chats')))('%s', (_, row, expected) => {
  expect(chatOf(row)).toMatchObject(expected)
})

describe('tool data in the chat row', () => {
  const call = { name: 'read_file', params: '{"path":"/a"}' }
  test.each([
    ['an object', { a: call }],
    ['a JSON string', JSON.stringify({ a: call })],
  ])('%s reaches the message', (_, bubbleDataMap) => {
    const chat = chatOf({
      capabilities: [
        { type: 30, data: { bubbleDataMap: { a: 'not this' } } },
        { type: 15, data: { bubbleDataMap } },
        null,
      ],
      conversation: [{ bubbleId: 'a', type: 2 }],
    })
    expect([...chat.toolData]).toEqual([['a', call]])
    expect(chat.embedded).toMatchObject([{ id: 'a', parts: [{ kind: 'tool', name: 'read_file', paths: ['/a'] }] }])
  })
})

test.each(cases<[unknown, string | null]>('evidence of a workspace URI'))(
  'workspace URI %j is evidence of %j',
  (uri, expected) => {
    const evidence = expected === null ? [] : [{ method: 'workspace-identifier', uri: expected }]
    expect(chatOf({ workspaceIdentifier: { id: 'w', uri } }).evidence).toEqual(evidence)
  },
)

const known =
  'name conversation conversationMap fullConversationHeadersOnly capabilities usageData workspaceIdentifier '
    .concat('latestConversationSummary todos subagentInfo subagentComposerIds createdAt status modelConfig __proto__ ')
    .concat('workspaceUri trackedGitRepos context newlyCreatedFiles codeBlockData originalFileStates')
    .split(' ')

describe('decoding is total', () => {
  it('any bytes become something that can be stored', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(typeof JSON.stringify(decodeChatRow(Buffer.from(raw), chatId, makeId))).toBe('string')
      }),
    )
  })
  it('any JSON in any known field becomes a chat with valid text and distinct embedded ids', () => {
    const element = fc.oneof(
      halvedJson,
      fc.record({ bubbleId: fc.constantFrom('a', 'b', ''), text: fc.constantFrom('t', '') }),
      fc.record({ uri: halvedJson, repoPath: halvedJson }),
    )
    const row = fc.dictionary(
      fc.constantFrom(...known),
      fc.oneof(
        halvedJson,
        fc.array(element),
        fc.dictionary(fc.constantFrom('a', 'b', ''), element),
        fc.dictionary(fc.constantFrom('uri', 'configPath', '/\ud800'), element),
        fc.dictionary(fc.constantFrom('fileSelections', 'folderSelections', 'attachedCodeChunks'), fc.array(element)),
      ),
    )
    fc.assert(
      fc.property(row, (composer) => {
        const decoded = decodeChatRow(bytes(composer), chatId, makeId)
        expect(JSON.stringify(decoded)).not.toMatch(halfCharacter)
        const ids = decoded.kind === 'chat' ? decoded.embedded.map((message) => message.id) : []
        expect(new Set(ids).size).toBe(ids.length)
        const paths = decoded.kind === 'chat' ? decoded.paths : []
        expect(new Set(paths).size).toBe(paths.length)
        for (const path of paths) expect(path).toMatch(/^(?:file|vscode-remote):\/\//)
      }),
    )
  })
})

const linesOf = (evidence: readonly { readonly method: string; readonly uri: string }[] | undefined): string[] =>
  (evidence ?? []).map(({ method, uri }) => `${method} ${uri}`)

describe('a chat names its place', () => {
  test.each(cases<[string, Record<string, unknown>, string[]]>('a chat names its place'))('%s', (_, chat, expected) => {
    expect(linesOf(chatOf(chat).evidence)).toEqual(expected)
  })
})

describe('a message names the place of its chat', () => {
  test.each(cases<[string, Record<string, unknown>, string[]]>('a message names the place of its chat'))(
    '%s',
    (_, message, expected) => {
      expect(linesOf(decodeMessageEvidence(message))).toEqual(expected)
    },
  )

  it('messages without evidence share one empty array', () => {
    expect(decodeMessageEvidence({ text: 'a' })).toBe(decodeMessageEvidence({ workspaceUris: [] }))
  })

  test.each([
    ['a message', { type: 1, text: 'hello' }, 'message'],
    ['a placeholder', { type: 2, text: '' }, 'nothing'],
  ])('evidence is also read if the row is %s', (_, bubble, kind) => {
    const decoded = decodeBubble({ ...bubble, workspaceUris: ['file:///w'] })
    expect(decoded).toMatchObject({ kind, evidence: [{ method: 'workspace-uris', uri: 'file:///w' }] })
    expect(decodeBubble(bubble)).not.toHaveProperty('evidence')
  })
})

describe('a request context names the place of its chat', () => {
  test.each(cases<[string, unknown, string[]]>('a request context names the place of its chat'))(
    '%s',
    (_, projectLayouts, expected) => {
      expect(linesOf(decodeMessageEvidence({ projectLayouts }))).toEqual(expected)
      expect(linesOf(decodeMessageEvidence({ projectLayouts, workspaceUris: [], workspaceProjectDir: '' }))).toEqual(
        expected,
      )
      expect(linesOf(decodeMessageEvidence({ projectLayouts, workspaceUris: ['file:///u'] }))).toEqual([
        'workspace-uris file:///u',
      ])
    },
  )
})

describe('the files that a chat is about', () => {
  test.each(cases<[string, Record<string, unknown>, readonly string[]]>('the files that a chat is about'))(
    '%s',
    (_, chat, expected) => {
      expect(chatOf(chat).paths).toEqual(expected)
    },
  )
})

it('leaves out very long ones', () => {
  expect(decodePaths({ codeBlockData: { [`/${'x'.repeat(5000)}`]: {} } })).toEqual([])
})

it('stops at twelve', () => {
  const names = Array.from({ length: 200 }, (_, index): [string, unknown] => [`file:///w/${index}.ts`, {}])
  expect(decodePaths({ codeBlockData: Object.fromEntries(names) })).toHaveLength(12)
})
