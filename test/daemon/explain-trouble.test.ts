import { expect, test } from 'vitest'
import { explainTrouble } from '../../src/daemon/explain-trouble.ts'
import { Trouble } from '../../src/model/trouble.ts'

test('of a trouble that says what to do, that was thrown away, and its sentence ended twice', () => {
  const trouble = new Trouble('ingest-died', 'The indexing thread ended.', 'Restart the daemon.')
  expect(explainTrouble(trouble, 'mirror.db')).toMatchObject({
    code: 'ingest-died',
    message: 'Indexing failed: The indexing thread ended.',
    hint: 'Restart the daemon. It is tried again in half a minute.',
  })
})

test('what is no trouble is told as it is, and tried again', () => {
  expect(explainTrouble(new Error('out of cheese'), 'mirror.db')).toMatchObject({
    code: 'fault',
    message: 'Indexing failed: out of cheese.',
    hint: 'It is tried again in half a minute.',
  })
})
