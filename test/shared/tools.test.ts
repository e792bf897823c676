import { expect, test } from 'vitest'
import { callKindOf, useOfTool } from '../../src/shared/tools.ts'

test.each([
  ['Delete', 'edit', 'edits'],
  ['delete_file', 'edit', 'edits'],
  ['create_file', 'edit', 'edits'],
  ['edit_file_v2', 'edit', 'edits'],
  ['create_plan', 'other', null],
  ['read_file', 'read', 'reads'],
  ['todo_write', 'todo', null],
  ['run_terminal_cmd', 'shell', null],
  ['codebase_search', 'search', null],
  ['web_fetch', 'read', null],
])('%s is of the kind %s', (name, kind, use) => {
  expect([callKindOf(name), useOfTool(name)]).toEqual([kind, use])
})
