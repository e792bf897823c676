import { expect, test } from 'vitest'
import { explainError } from '../../src/daemon/follow/explain-error.ts'
import { UserError } from '../../src/model/user-error.ts'

test('the hint of an error was dropped, and its sentence ended with two full stops', () => {
  const error = new UserError('ingest-died', 'The indexing thread ended.', 'Restart the daemon.')
  expect(explainError(error, 'mirror.db')).toMatchObject({
    code: 'ingest-died',
    message: 'Indexing failed: The indexing thread ended.',
    hint: 'Restart the daemon. It will be tried again in half a minute.',
  })
})

test('an unexpected error is reported with its message and tried again', () => {
  expect(explainError(new Error('out of cheese'), 'mirror.db')).toMatchObject({
    code: 'fault',
    message: 'Indexing failed: out of cheese.',
    hint: 'It will be tried again in half a minute.',
  })
})
