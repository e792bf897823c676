import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFacts } from '../../../src/indexer/sources/cli-store/read.ts'
import { encodeState } from '../../helpers/cursor.ts'
import { assistant, cliCanary, cliEras, preface, say, system, user } from '../../helpers/eras/cli-store.ts'
import { bytesBelow } from '../../helpers/oracle/canaries.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

/** The content of the mirror's files after the most thorough passes. */
function mirrorBytes(): string {
  home.close()
  home.pass()
  home.pass('full')
  home.mirror.pragma('wal_checkpoint(truncate)')
  return bytesBelow(`${home.root}/mirror`)
}

test('system messages, the encryption key and abandoned branches never reach the mirror', () => {
  for (const era of cliEras) era.write(home.path)
  expect(bytesBelow(home.path)).toContain(cliCanary)
  const bytes = mirrorBytes()
  expect(bytes).toContain('Nine hundred degrees.')
  expect(bytes).not.toContain(cliCanary)
})

test('only known facts are read, and of the key only its presence', () => {
  const store = home.store('a')
  for (const key of ['0', 'name', 'blobEncryptionKey', 'token']) store.fact(key, cliCanary)
  const facts = readFacts(store.db)
  expect([[...(facts?.values.keys() ?? [])], facts?.hasKey]).toEqual([['0', 'name'], true])
})

test('they do not reach it either if the store is damaged, encrypted, or in an unknown format', () => {
  const store = home.store('a')
  const left = store.blob(encodeState({ entries: [store.blob(user(cliCanary))] }))
  home.say(
    store,
    {
      entries: [
        store.blob(system),
        store.blob(preface),
        store.blob({ role: 'developer', content: cliCanary }),
        store.blob(assistant({ type: 'redacted-reasoning', data: cliCanary, text: cliCanary }, say('told'))),
        store.blob(user('told too')),
        'ab'.repeat(32),
      ],
    },
    { blobEncryptionKey: cliCanary },
  )
  store.fact('blobEncryptionKey', cliCanary)
  home.store('b').facts({ latestRootBlobId: left, blobEncryptionKey: cliCanary })
  home.store('c').fact('blobEncryptionKey', cliCanary)
  home.chat('d', [{ role: 'system', content: [{ type: 'tool-result', toolCallId: 'c', result: cliCanary }] }])
  const bytes = mirrorBytes()
  expect([home.texts('a'), bytes.includes('told too')]).toEqual([['told', 'told too'], true])
  expect(bytes).not.toContain(cliCanary)
})
