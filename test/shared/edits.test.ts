import { expect, test } from 'vitest'
import type { ToolPart } from '../../src/model/part.ts'
import { countLines, diffText, editsOf, hunksBetween } from '../../src/shared/edits.ts'

const call = (given: Partial<ToolPart>): ToolPart => ({
  kind: 'tool',
  name: 'edit',
  status: 'completed',
  callId: null,
  input: null,
  output: null,
  error: null,
  paths: ['src/a.ts'],
  ...given,
})

/** Each file of a call: its path, its diff, its counts of lines. */
const shown = (given: Partial<ToolPart>): unknown[] =>
  editsOf(call(given)).map((edit) => [edit.path, diffText(edit), countLines(edit)])

const patch = [
  '*** Begin Patch',
  '*** Update File: src/a.ts',
  '@@ function one()',
  ' kept',
  '-old',
  '+new',
  '*** Add File: src/b.ts',
  '+first',
  '+second',
  '*** Delete File: src/c.ts',
  '*** End Patch',
].join('\n')

const patched = [
  ['src/a.ts', '@@\n kept\n-old\n+new', { added: 1, removed: 1 }],
  ['src/b.ts', '@@\n+first\n+second', { added: 2, removed: 0 }],
  ['src/c.ts', '', { added: 0, removed: 0 }],
]

test.each<[string, Partial<ToolPart>, unknown[]]>([
  [
    'texts to replace',
    { input: { old_string: 'a\nb', new_string: 'a\nc' } },
    [['src/a.ts', '@@\n a\n-b\n+c', { added: 1, removed: 1 }]],
  ],
  [
    'the same in other words',
    { input: { oldString: 'b', newString: '' } },
    [['src/a.ts', '@@\n-b', { added: 0, removed: 1 }]],
  ],
  [
    'several replacements',
    {
      input: {
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: 'c', new_string: 'd' },
        ],
      },
    },
    [['src/a.ts', '@@\n-a\n+b\n@@\n-c\n+d', { added: 2, removed: 2 }]],
  ],
  ['a patch', { input: patch }, patched],
  ['a patch as an argument', { input: { patch } }, patched],
  [
    'a diff of git',
    { input: { diff: '--- a/x.ts\n+++ b/x.ts\n@@ -3,2 +4,2 @@\n kept\n-a\n+b\n' } },
    [['x.ts', '@@ -3 +4 @@\n kept\n-a\n+b', { added: 1, removed: 1 }]],
  ],
  [
    'a whole file',
    { input: { file_path: 'src/a.ts', contents: 'x\ny\n' } },
    [['src/a.ts', '@@\n+x\n+y', { added: 2, removed: 0 }]],
  ],
  [
    'a sketch',
    { input: { target_file: 'src/a.ts', code_edit: '// ... existing code ...\nx' } },
    [['src/a.ts', '@@\n+// ... existing code ...\n+x', null]],
  ],
  [
    'the diff that Cursor recorded',
    { input: { code_edit: 'x' }, output: { diff: { chunks: [{ diffString: '-a\n+b', oldStart: 7, newStart: 8 }] } } },
    [['src/a.ts', '@@ -7 +8 @@\n-a\n+b', { added: 1, removed: 1 }]],
  ],
  ['a call that edits nothing', { input: { command: 'npm test' } }, []],
  ['no input', {}, []],
])('%s', (_, given, expected) => {
  expect(shown(given)).toEqual(expected)
})

test('two long texts without a common line are taken out and put in whole', () => {
  const text = (word: string): string => Array.from({ length: 6000 }, (_, line) => `${word} ${line}`).join('\n')
  const [hunk, ...others] = hunksBetween(text('old'), text('new'))
  expect(others).toEqual([])
  expect(hunk?.lines.length).toBe(12_000)
})
