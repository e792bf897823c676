import { expect, test } from 'vitest'
import { explainError } from '../../src/daemon/follow/explain-error.ts'
import { UserError } from '../../src/model/user-error.ts'

test('of a trouble that says what to do, that was thrown away, and its sentence ended twice', () => {
  const trouble = new UserError('ingest-died', 'The indexing thread ended.', 'Restart the daemon.')
  expect(explainError(trouble, 'mirror.db')).toMatchObject({
    code: 'ingest-died',
    message: 'Indexing failed: The indexing thread ended.',
    hint: 'Restart the daemon. It will be tried again in half a minute.',
  })
})

test('what is no trouble is told as it is, and tried again', () => {
  expect(explainError(new Error('out of cheese'), 'mirror.db')).toMatchObject({
    code: 'fault',
    message: 'Indexing failed: out of cheese.',
    hint: 'It will be tried again in half a minute.',
  })
})
