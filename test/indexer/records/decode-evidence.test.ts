import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  decodeContextEvidence,
  decodeMessageEvidence,
} from '../../../src/indexer/sources/records/chat/decode-evidence.ts'
import { bytes, chatOf, decodeBubble, halfCharacter, halvedJson } from './rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

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
      expect(linesOf(decodeContextEvidence({ projectLayouts }))).toEqual(expected)
      // Older builds store the same in the message's own row; it must place the chat from there too.
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

test('any value yields valid evidence', () => {
  fc.assert(
    fc.property(halvedJson, (value) => {
      const record = JSON.parse(bytes({ a: value }).toString()) as { readonly a: unknown }
      const any = record.a
      const evidence = [
        ...chatOf({ workspaceIdentifier: any, workspaceUri: any, trackedGitRepos: [any, { repoPath: any }] }).evidence,
        ...chatOf({ workspaceIdentifier: { uri: any, configPath: any }, trackedGitRepos: [{ repoPath: any }] })
          .evidence,
        ...decodeMessageEvidence({ workspaceUris: [any], workspaceProjectDir: any }),
        ...decodeMessageEvidence({ workspaceUris: any }),
        ...decodeContextEvidence({ projectLayouts: [any, { rootPath: any }] }),
        ...decodeContextEvidence({ projectLayouts: any }),
      ]
      for (const { uri } of evidence) expect(JSON.stringify(uri)).not.toMatch(halfCharacter)
    }),
  )
})
