import { expect, test } from 'vitest'
import type { SourceEnd } from '../../src/engine/writer/messages.ts'
import { sourceReasons } from '../../src/engine/source-reasons.ts'
import { asSourceId } from '../../src/model/ids.ts'

const endOf = (kind: string, path: string): SourceEnd => ({
  id: asSourceId(kind),
  kind,
  path,
  state: 'corrupt',
  detail: 'The file is not a SQLite database.',
  again: [],
  pendingLoss: null,
})

test('a damaged file was reported once for each source that reads it', () => {
  const ends = [endOf('composer-kv', '/a/state.vscdb'), endOf('global-items', '/a/state.vscdb')]
  const reason = 'corrupt: /a/state.vscdb: The file is not a SQLite database.'
  expect(sourceReasons(ends)).toEqual([reason])
  expect(sourceReasons([...ends, endOf('composer-kv', '/b/state.vscdb')])).toHaveLength(2)
})
