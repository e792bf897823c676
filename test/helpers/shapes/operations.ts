import { expect } from 'vitest'
import { readJson } from '../cases.ts'
import { pause } from '../wait-until.ts'
import type { Writer } from './writer.ts'

/** A change to a store, with words that are nowhere else. */
interface Operation {
  readonly name: string
  /** The content of the store before. */
  readonly chats: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Methods of `Writer` with their arguments, or steps within one; `stream` is a message that is rewritten many times. */
  readonly steps: readonly Step[]
  /** A message before, and the one that has its rowid after. */
  readonly keepsRowid?: readonly [readonly [string, string], readonly [string, string]]
  readonly found?: readonly string[]
  /** Found in both chats, because each chat keeps its messages. */
  readonly foundTwice?: readonly string[]
  readonly lost?: readonly string[]
}

type Step = readonly [name: string, ...given: readonly unknown[]]

export const operations = readJson(import.meta.url, 'operations.json') as Readonly<Record<string, readonly Operation[]>>

export async function act(writer: Writer, { steps, keepsRowid }: Operation): Promise<void> {
  const [before, after] = keepsRowid ?? []
  const rowid = before && writer.rowid(...before)
  for (const [name, ...given] of steps) {
    if (name === 'stream') await stream(writer, ...(given as [string, string, string, number]))
    else take(writer, [name, ...given])
  }
  expect(after && writer.rowid(...after)).toBe(rowid)
}

function take(writer: Writer, [name, ...given]: Step): void {
  const method = Reflect.get(writer, name) as (...values: readonly unknown[]) => void
  const within = (other: Writer = writer): void => {
    for (const step of given[0] as readonly Step[]) take(other, step)
  }
  method.apply(writer, name === 'atOnce' || name === 'replaceFile' ? [within] : given)
}

async function stream(writer: Writer, chatId: string, id: string, word: string, count: number): Promise<void> {
  for (let step = 0; step < count; step++) {
    // The number in letters, because digits would be a separate word.
    writer.insert(chatId, id, word + String.fromCharCode(97 + Math.floor(step / 10), 97 + (step % 10)))
    await pause(10)
  }
}
