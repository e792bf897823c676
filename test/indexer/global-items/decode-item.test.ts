import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeItems } from '../../../src/indexer/sources/global-items/decode-item.ts'
import { decodeMembership, decodeProjects } from '../../../src/indexer/sources/global-items/decode-projects.ts'
import { decodeHeaderTable } from '../../../src/indexer/sources/global-items/decode-table.ts'
import { halfCharacter, halvedJson } from '../records/rows.ts'
import { evidenceOf, issuesOf } from './look.ts'

const keys = ['composer.composerHeaders', 'glass.localAgentProjects.v1', 'glass.localAgentProjectMembership.v1']
const itemOf = (key: string, value: Buffer) => ({ key, octets: value.length, value, isDamaged: false })
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const listOf = (value: unknown) => decodeItems([itemOf('composer.composerHeaders', bytesOf(value))])

describe('the list of heads', () => {
  const head = { composerId: 'a', name: 'A' }
  test.each<[string, unknown, readonly (string | null)[]]>([
    ['an object with a list', { allComposers: [head] }, ['A']],
    ['a bare array', [head], ['A']],
    ['the first of two heads of one chat', [head, { ...head, name: 'B' }], ['A']],
    ['what has no id is left out', [{ name: 'A' }, null, 3, 'x', { composerId: ' ' }, head], ['A']],
    ['no list is no heads', { hasMigrated: true }, []],
  ])('%s', (_, value, names) => {
    expect(listOf(value)[0]?.heads.map(({ name }) => name)).toEqual(names)
  })

  test('a head gives all facts that it has', () => {
    const atMs = Date.UTC(2026, 3, 1)
    const known = {
      composerId: 'a',
      name: ' A ',
      createdAt: atMs,
      lastUpdatedAt: String(atMs + 1),
      unifiedMode: 'plan',
      createdOnBranch: 'main',
      isArchived: false,
      isDraft: true,
      subagentInfo: { parentComposerId: 'p' },
      totalLinesAdded: 1,
      totalLinesRemoved: 2,
      filesChangedCount: 3,
    }
    expect(listOf([known])[0]?.heads).toEqual([
      {
        chatId: 'a',
        list: 'header-list',
        name: ' A ',
        createdAtMs: atMs,
        updatedAtMs: atMs + 1,
        mode: 'plan',
        branch: 'main',
        isArchived: false,
        isDraft: true,
        isSubagent: true,
        parentChatId: 'p',
        linesAdded: 1,
        linesRemoved: 2,
        filesChanged: 3,
      },
    ])
  })

  test('an empty head leaves everything open', () => {
    const { chatId, list, ...rest } = listOf([{ composerId: 'a' }])[0]?.heads[0] ?? { chatId: '', list: '' }
    expect([chatId, list]).toEqual(['a', 'header-list'])
    expect(new Set(Object.values(rest))).toEqual(new Set([null]))
  })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['a URI as text', { workspaceIdentifier: { uri: 'file:///w' } }, ['a header-list file:///w']],
    [
      'a workspace file',
      { workspaceIdentifier: { id: 'w', configPath: { fsPath: '/w/a.code-workspace' } } },
      ['a header-list file:///w/a.code-workspace'],
    ],
    ['an id alone', { workspaceIdentifier: { id: 'w' }, workspaceId: 'w' }, []],
    [
      'where the agent works',
      { agentLocation: { environment: { id: 'w', uri: { fsPath: '/w' } } } },
      ['a header-list file:///w'],
    ],
    [
      'the workspace before the agent',
      { workspaceIdentifier: { uri: 'file:///w' }, agentLocation: { environment: { uri: 'file:///x' } } },
      ['a header-list file:///w'],
    ],
  ])('%s', (_, more, expected) => {
    expect(evidenceOf(listOf([{ composerId: 'a', ...more }]))).toEqual(expected)
  })
})

describe('projects', () => {
  const workspace = { uri: { fsPath: '/w', scheme: 'file' } }
  test.each<[string, unknown, [string, string][]]>([
    ['an array with ids', [{ id: 'p', workspace }], [['p', 'file:///w']]],
    ['an object keyed by id', { p: { workspace } }, [['p', 'file:///w']]],
    ['the id inside before the key', { k: { id: 'p', workspace } }, [['p', 'file:///w']]],
    ['a wrapper', { version: 1, projects: [{ id: 'p', workspace }] }, [['p', 'file:///w']]],
    ['a project that is called as the wrapper is', { projects: { workspace } }, [['projects', 'file:///w']]],
    ['a URI as text', [{ id: 'p', workspace: { uri: 'file:///w' } }], [['p', 'file:///w']]],
    ['a workspace as text', [{ id: 'p', workspace: 'file:///w' }], [['p', 'file:///w']]],
    ['a project without a place', [{ id: 'p' }, { workspace }, 7], []],
    ['neither', 'projects', []],
  ])('%s', (_, value, expected) => {
    expect([...decodeProjects(value)]).toEqual(expected)
  })

  test.each<[string, unknown, [string, string][]]>([
    [
      'ids by chat',
      { c: 'p', d: 'q' },
      [
        ['c', 'p'],
        ['d', 'q'],
      ],
    ],
    ['objects by chat', { c: { projectId: 'p' }, d: {} }, [['c', 'p']]],
    ['an array of pairs', [{ composerId: 'c', projectId: 'p' }], [['c', 'p']]],
    ['a wrapper', { membership: { c: 'p' } }, [['c', 'p']]],
    ['neither', [1, null, 'c'], []],
  ])('membership as %s', (_, value, expected) => {
    expect([...decodeMembership(value)]).toEqual(expected)
  })

  test('evidence from two items is part of both pieces, so that a change of either writes it', () => {
    const items = [
      itemOf('glass.localAgentProjects.v1', bytesOf([{ id: 'p', workspace }])),
      itemOf('glass.localAgentProjectMembership.v1', bytesOf({ c: 'p' })),
    ]
    expect(decodeItems(items).map(({ evidence }) => evidence.length)).toEqual([1, 1])
    expect(decodeItems(items.slice(1)).map(({ evidence }) => evidence.length)).toEqual([0])
  })
})

describe('whatever the bytes', () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    halvedJson.map((value) => bytesOf({ allComposers: [value, { composerId: 'a', workspaceIdentifier: value }] })),
    halvedJson.map((value) => bytesOf({ p: { workspace: value }, c: value })),
  )

  test('items become pieces', () => {
    fc.assert(
      fc.property(fc.tuple(anyBytes, anyBytes, anyBytes), (values) => {
        const pieces = decodeItems(values.map((value, index) => itemOf(keys[index] ?? '', value)))
        expect(pieces.map(({ key }) => key)).toEqual(keys)
        expect(issuesOf(pieces).length).toBeLessThanOrEqual(3)
        expect(JSON.stringify(pieces)).not.toMatch(halfCharacter)
      }),
    )
  })

  test('rows of the table become one piece', () => {
    const cell = fc.oneof(fc.constant(null), fc.double(), fc.string(), fc.uint8Array({ maxLength: 4 }))
    const columns = [
      'composerId',
      'workspaceId',
      'createdAt',
      'lastUpdatedAt',
      'isArchived',
      'isSubagent',
      'recency',
    ] as const
    const cells = fc.tuple(...columns.map(() => cell))
    fc.assert(
      fc.property(fc.array(fc.tuple(cells, fc.option(anyBytes))), fc.boolean(), (given, isDamaged) => {
        const rows = given.map(([values, value]) => {
          const [composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent, recency] = values
          const row = { composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent, recency }
          return { ...row, value, octets: value?.length ?? 0 }
        })
        const piece = decodeHeaderTable({ rows, isDamaged }, (id) => `file:///${id}`)
        expect(piece.heads.length).toBeLessThanOrEqual(rows.length)
        expect(piece.checksum === null).toBe(isDamaged)
      }),
    )
  })
})
