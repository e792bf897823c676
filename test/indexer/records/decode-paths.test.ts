import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodePaths } from '../../../src/indexer/sources/records/chat/decode-paths.ts'
import { bytes, chatOf, halfCharacter, halvedJson } from './rows.ts'

const uri = { $mid: 1, fsPath: '/w/a b.ts', external: 'file:///w/a%20b.ts', path: '/w/a b.ts', scheme: 'file' }
const aFile = ['file:///w/a%20b.ts']

describe('the files that a chat is about', () => {
  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ['that were attached', { context: { fileSelections: [{ uri, addedWithoutMention: true }] } }, aFile],
    ['whose folders were attached', { context: { folderSelections: [{ uri: { fsPath: '/w/d/' } }] } }, ['file:///w/d']],
    ['of which parts were attached', { context: { attachedCodeChunks: [{ uri, lines: ['x'] }] } }, aFile],
    ['of which parts were attached to the chat itself', { attachedCodeChunks: [{ uri }] }, aFile],
    ['that are listed as attached', { allAttachedFileCodeChunksUris: ['file:///w/a b.ts'] }, aFile],
    ['that it wrote', { codeBlockData: { 'file:///w/a%20b.ts': { 0: { content: '/x/y' } } } }, aFile],
    ['that it changed', { originalFileStates: { 'file:///w/a%20b.ts': { content: 'file:///x' } } }, aFile],
    ['that it made', { newlyCreatedFiles: [{ uri }] }, aFile],
    ['that it made, as text', { newlyCreatedFiles: ['/w/a b.ts'] }, aFile],
    ['on Windows', { codeBlockData: { 'file:///c%3A/W/x.ts': {}, 'C:\\W\\x.ts': {} } }, ['file:///c:/W/x.ts']],
    ['on a remote', { codeBlockData: { 'vscode-remote://wsl%2Bu/w/x.ts': {} } }, ['vscode-remote://wsl%2Bu/w/x.ts']],
    ['each once', { newlyCreatedFiles: [{ uri }, { uri }], codeBlockData: { '/w/a b.ts': {} } }, aFile],
    [
      'but not relative ones',
      { newlyCreatedFiles: ['a.ts', { uri: { path: '' } }, { relativeWorkspacePath: 'b.ts' }] },
      [],
    ],
    ['but not unsaved ones', { codeBlockData: { 'untitled:Untitled-1': {}, 'https://x/y': {} } }, []],
    ['but not very long ones', { codeBlockData: { [`/${'x'.repeat(5000)}`]: {} } }, []],
  ])('%s', (_, chat, expected) => {
    expect(chatOf(chat).paths).toEqual(expected)
  })
})

it('takes no text from the unsent draft', () => {
  const draft = { text: '/draft/text', richText: '/draft/rich', selections: [{ uri, text: '/draft/selection' }] }
  const mentions = { fileSelections: { '/draft/mention': [] } }
  expect(decodePaths({ text: '/draft', richText: '/draft', context: { ...draft, mentions } })).toEqual([])
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
