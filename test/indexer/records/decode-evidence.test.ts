import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  decodeContextEvidence,
  decodeMessageEvidence,
} from '../../../src/indexer/sources/records/chat/decode-evidence.ts'
import { bytes, chatOf, decodeBubble, halfCharacter, halvedJson } from './rows.ts'

const linesOf = (evidence: readonly { readonly method: string; readonly uri: string }[] | undefined): string[] =>
  (evidence ?? []).map(({ method, uri }) => `${method} ${uri}`)

describe('a chat names its place', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      'by its repository',
      { trackedGitRepos: [{ repoPath: '/r/a b', branches: [] }, { repoPath: '/s' }] },
      ['git-repo file:///r/a%20b'],
    ],
    ['by a repository on Windows', { trackedGitRepos: [{ repoPath: 'C:\\r' }] }, ['git-repo file:///C:/r']],
    ['by a repository without a place: not', { trackedGitRepos: [{ repoUrl: 'https://x' }] }, []],
    ['by a relative repository: not', { trackedGitRepos: [{ repoPath: 'r' }] }, []],
    ['by an address of a repository: not', { trackedGitRepos: [{ repoPath: 'https://host/r' }] }, []],
    ['by the URI of its workspace', { workspaceUri: 'file:///w' }, ['workspace-identifier file:///w']],
    [
      'by a remote one',
      { workspaceUri: { scheme: 'vscode-remote', authority: 'wsl+u', path: '/w' } },
      ['workspace-identifier vscode-remote://wsl%2Bu/w'],
    ],
    ['by text that is no URI: not', { workspaceUri: '/w' }, []],
    ['by an id: not', { workspaceUri: 'empty-window' }, []],
    ['by a URI of no folder: not', { workspaceUri: 'untitled:Untitled-1' }, []],
    [
      'by its workspace first',
      { workspaceIdentifier: { uri: 'file:///i' }, workspaceUri: 'file:///w' },
      ['workspace-identifier file:///i'],
    ],
    [
      'by the file of a workspace of several folders',
      { workspaceIdentifier: { id: 'w', configPath: 'file:///w/a.code-workspace' } },
      ['workspace-identifier file:///w/a.code-workspace'],
    ],
    [
      'by both',
      { workspaceIdentifier: { uri: 'file:///i' }, trackedGitRepos: [{ repoPath: '/r' }] },
      ['workspace-identifier file:///i', 'git-repo file:///r'],
    ],
  ])('%s', (_, chat, expected) => {
    expect(linesOf(chatOf(chat).evidence)).toEqual(expected)
  })
})

describe('a message names the place of its chat', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['by its window', { workspaceUris: ['file:///w'] }, ['workspace-uris file:///w']],
    [
      'by a remote window',
      { workspaceUris: ['vscode-remote://ssh-remote%2Bbox/w'] },
      ['workspace-uris vscode-remote://ssh-remote%2Bbox/w'],
    ],
    ['by an object', { workspaceUris: [{ fsPath: '/w', scheme: 'file', path: '/w' }] }, ['workspace-uris file:///w']],
    ['by a path', { workspaceUris: ['c:\\w'] }, ['workspace-uris file:///c:/w']],
    [
      'by the first folder of several',
      { workspaceUris: [7, 'untitled:x', 'file:///a', 'file:///b'] },
      ['workspace-uris file:///a'],
    ],
    ['by its project folder', { workspaceUris: [], workspaceProjectDir: '/w' }, ['workspace-uris file:///w']],
    [
      'by its window before its project folder',
      { workspaceUris: ['file:///a'], workspaceProjectDir: '/b' },
      ['workspace-uris file:///a'],
    ],
    ["by the folder of Cursor's notes: not", { workspaceProjectDir: '/home/me/.cursor/projects/work-mill' }, []],
    ['by nothing: not', { workspaceUris: 'file:///w', workspaceProjectDir: { a: 1 } }, []],
  ])('%s', (_, message, expected) => {
    expect(linesOf(decodeMessageEvidence(message))).toEqual(expected)
  })

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
  test.each<[string, unknown, string[]]>([
    ['by a layout as JSON text', ['{"rootPath":"/w","content":"tree"}'], ['request-context file:///w']],
    ['by a layout as an object', [{ absPath: '/w' }], ['request-context file:///w']],
    [
      'by the root of a tree',
      [{ listDirV2Result: { directoryTreeRoot: { absPath: '/w', childrenDirs: [{ absPath: '/w/a' }] } } }],
      ['request-context file:///w'],
    ],
    [
      'by the root before what is below',
      [{ tree: { absPath: '/w/a' }, rootPath: '/w' }],
      ['request-context file:///w'],
    ],
    [
      'by the first that names one',
      ['torn {', { rootPath: 'relative' }, { rootPath: 'D:\\w' }, { rootPath: '/x' }],
      ['request-context file:///D:/w'],
    ],
    ['by none: not', [], []],
    ['by no list: not', { rootPath: '/w' }, []],
  ])('%s', (_, projectLayouts, expected) => {
    expect(linesOf(decodeContextEvidence({ projectLayouts }))).toEqual(expected)
    // Older builds store the same in the message's own row; it must place the chat from there too.
    expect(linesOf(decodeMessageEvidence({ projectLayouts }))).toEqual(expected)
    expect(linesOf(decodeMessageEvidence({ projectLayouts, workspaceUris: [], workspaceProjectDir: '' }))).toEqual(
      expected,
    )
    expect(linesOf(decodeMessageEvidence({ projectLayouts, workspaceUris: ['file:///u'] }))).toEqual([
      'workspace-uris file:///u',
    ])
  })
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
