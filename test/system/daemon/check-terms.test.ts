import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type * as checkTerms from '../../../src/engine/check-terms.ts'
import type { MemoryBudget } from '../../../src/engine/memory-budget.ts'
import { Compiled } from '../../helpers/compiled.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

/** Compiled, for the check is a program of its own. */
const compiled = await Compiled.module('daemon/check-terms')
afterAll(() => compiled.remove())

let mirror: SeededMirror
let told: string[]
/** Called when room is asked for. */
let makeRoom: () => Promise<void>
beforeEach(() => {
  mirror = seedMirror()
  mirror.addMessage(mirror.addChat({ id: 'one', title: 'A plum tree' }), { id: 'm' })
  told = []
  makeRoom = async () => undefined
})
afterEach(() => mirror.dispose())

const room: MemoryBudget = {
  make: async () => {
    told.push('room is asked for')
    await makeRoom()
    told.push('there is room')
  },
  giveBack: () => void told.push('room is given back'),
}

async function makeCheck(): Promise<checkTerms.TermsCheck> {
  const made = (await import(compiled.url)) as typeof checkTerms
  return new made.TermsCheck(mirror.path, room)
}

test('two searches, and the weekly check of the full-text tables beside them, took 430 MB', async () => {
  const check = await makeCheck()
  const answer = check.run().finally(() => told.push('it has answered'))
  expect([check.isAtWork, told]).toEqual([true, ['room is asked for']])
  expect(await answer).toBe(true)
  expect(told).toEqual(['room is asked for', 'there is room', 'room is given back', 'it has answered'])
  expect(check.isAtWork).toBe(false)
})

test('damage is found, and the room given back', async () => {
  mirror.writer.exec(`insert into message_terms (rowid, text) values (1, 'a plum')`)
  // Else SQLite protects the tables that FTS5 keeps its index in.
  mirror.writer.unsafeMode(true)
  mirror.writer.exec('delete from message_terms_data where id > 10')
  mirror.writer.unsafeMode(false)
  const check = await makeCheck()
  expect(await check.run()).toBe(false)
  expect(told.at(-1)).toBe('room is given back')
})

test('a daemon that stops while room is made starts no process any more', async () => {
  const check = await makeCheck()
  makeRoom = async () => check.stop()
  expect(await check.run()).toBe(true)
  expect(told.at(-1)).toBe('room is given back')
})

test('a check that is ended in its middle finds no damage, and gives the room back', async () => {
  const check = await makeCheck()
  const answer = check.run()
  await new Promise((resume) => setTimeout(resume, 1))
  check.stop()
  expect(await answer).toBe(true)
  expect([check.isAtWork, told.at(-1)]).toEqual([false, 'room is given back'])
})
