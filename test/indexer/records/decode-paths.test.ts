import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodePaths } from '../../../src/indexer/sources/records/chat/decode-paths.ts'
import { bytes, chatOf, halfCharacter, halvedJson } from './rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const uri = { $mid: 1, fsPath: '/w/a b.ts', external: 'file:///w/a%20b.ts', path: '/w/a b.ts', scheme: 'file' }

describe('the files that a chat is about', () => {
  test.each(cases<[string, Record<string, unknown>, readonly string[]]>('the files that a chat is about'))(
    '%s',
    (_, chat, expected) => {
      expect(chatOf(chat).paths).toEqual(expected)
    },
  )
})

it('takes no text from the unsent draft', () => {
  const draft = { text: '/draft/text', richText: '/draft/rich', selections: [{ uri, text: '/draft/selection' }] }
  const mentions = { fileSelections: { '/draft/mention': [] } }
  expect(decodePaths({ text: '/draft', richText: '/draft', context: { ...draft, mentions } })).toEqual([])
})

it('leaves out very long ones', () => {
  expect(decodePaths({ codeBlockData: { [`/${'x'.repeat(5000)}`]: {} } })).toEqual([])
})

it('stops at twelve', () => {
  const names = Array.from({ length: 200 }, (_, index): [string, unknown] => [`file:///w/${index}.ts`, {}])
  expect(decodePaths({ codeBlockData: Object.fromEntries(names) })).toHaveLength(12)
})

test('any value yields valid paths', () => {
  fc.assert(
    fc.property(halvedJson, (value) => {
      const { a } = JSON.parse(bytes({ a: value }).toString()) as { readonly a: unknown }
      const context = { fileSelections: [{ uri: a }, a], folderSelections: a, attachedCodeChunks: [a] }
      const chat = { context, newlyCreatedFiles: [{ uri: a }], codeBlockData: a, originalFileStates: { '/\ud800': a } }
      const paths = [...decodePaths(chat), ...decodePaths({ context: a })]
      expect(new Set(decodePaths(chat)).size).toBe(decodePaths(chat).length)
      for (const path of paths) expect(path).toMatch(/^(?:file|vscode-remote):\/\//)
      expect(JSON.stringify(paths)).not.toMatch(halfCharacter)
    }),
  )
})
