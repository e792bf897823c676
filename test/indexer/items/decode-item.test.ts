import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Piece } from '../../../src/indexer/open-safely/whole-store.ts'
import {
  decodeItems,
  decodeHeadTable,
  decodeMembership,
  decodeProjects,
  headColumns,
} from '../../../src/indexer/sources/items/decode.ts'
import { halfCharacter, halvedJson } from '../records/rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const keys = ['composer.composerHeaders', 'glass.localAgentProjects.v1', 'glass.localAgentProjectMembership.v1']
const itemOf = (key: string, value: Buffer) => ({ key, octets: value.length, value })
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const evidenceOf = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap(({ evidence }) => evidence.map(({ chatId, method, root }) => `${chatId} ${method} ${root.uri}`))

const listOf = (value: unknown) => decodeItems([itemOf('composer.composerHeaders', bytesOf(value))], null)

describe('the list of heads', () => {
  test.each(cases<[string, unknown, readonly (string | null)[]]>('names of heads'))('%s', (_, value, names) => {
    expect(listOf(value)[0]?.metadata.map(({ name }) => name)).toEqual(names)
  })

  test.each(cases<[string, Record<string, unknown>, string[]]>('places of heads'))('%s', (_, more, expected) => {
    expect(evidenceOf(listOf([{ composerId: 'a', ...more }]))).toEqual(expected)
  })
})

describe('projects', () => {
  const workspace = { uri: { fsPath: '/w', scheme: 'file' } }
  test.each(cases<[string, unknown, [string, string][]]>('projects'))('%s', (_, value, expected) => {
    expect([...decodeProjects(value)]).toEqual(expected)
  })

  test.each(cases<[string, unknown, [string, string][]]>('membership'))('membership as %s', (_, value, expected) => {
    expect([...decodeMembership(value)]).toEqual(expected)
  })

  test('evidence from two items is part of both pieces, so that a change of either writes it', () => {
    const items = [
      itemOf('glass.localAgentProjects.v1', bytesOf([{ id: 'p', workspace }])),
      itemOf('glass.localAgentProjectMembership.v1', bytesOf({ c: 'p' })),
    ]
    expect(decodeItems(items, null).map(({ evidence }) => evidence.length)).toEqual([1, 1])
    expect(decodeItems(items.slice(1), null).map(({ evidence }) => evidence.length)).toEqual([0])
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
        const pieces = decodeItems(
          values.map((value, index) => itemOf(keys[index] ?? '', value)),
          null,
        )
        expect(pieces.map(({ key }) => key)).toEqual(keys)
        expect(JSON.stringify(pieces)).not.toMatch(halfCharacter)
      }),
    )
  })

  test('rows of the table become one piece', () => {
    const cell = fc.oneof(fc.constant(null), fc.double(), fc.string(), fc.uint8Array({ maxLength: 4 }))
    const cells = fc.tuple(...headColumns.map(() => cell))
    fc.assert(
      fc.property(fc.array(fc.tuple(cells, fc.option(anyBytes))), (given) => {
        const rows = given.map(([values, value]) => {
          const [composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent, recency] = values
          const row = { composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent, recency }
          return { ...row, value, octets: value?.length ?? 0 }
        })
        const piece = decodeHeadTable(rows, (id) => `file:///${id}`)
        expect(piece.metadata.length).toBeLessThanOrEqual(rows.length)
        expect(piece.checksum).not.toBeNull()
      }),
    )
  })
})
