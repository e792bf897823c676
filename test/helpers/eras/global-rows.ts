import { readJson, writtenOut } from '../cases.ts'
import { encodeState, type Store } from '../cursor.ts'
import { asBase64, keepBlob, stub, toolResult } from '../blob-store.ts'
import { encodeArchive, writeTurn } from './cli-store.ts'
import { eraIn } from './workspace-items.ts'

/** A chat in rows of the global store, and the expected result. */
export interface RowEra {
  readonly name: string
  readonly id: string
  /** Words that are each in exactly one of its messages. */
  readonly words: readonly string[]
  /** The relevant fields of each message in the API's answer. */
  readonly messages: readonly object[]
  write(store: Store): void
}

type Rows = Readonly<Record<string, { readonly type: 1 | 2 } & Record<string, unknown>>>

/** Writes a chat that lists these rows by id, in order. */
function writeChat(store: Store, id: string, rows: Rows, more: object = {}): void {
  const fullConversationHeadersOnly = Object.entries(rows).map(([bubbleId, { type }]) => ({ bubbleId, type }))
  store.chat(id, { name: `Chat ${id}`, fullConversationHeadersOnly, ...more })
  for (const [messageId, row] of Object.entries(rows)) store.message(id, messageId, row)
}

interface Written extends Omit<RowEra, 'write'> {
  readonly rows: Rows
}

/** Chats whose rows contain everything. */
export const rowEras: readonly RowEra[] = writtenOut(readJson(import.meta.url, 'global-rows.json') as Written[]).map(
  ({ rows, ...told }) => ({ ...told, write: (store) => writeChat(store, told.id, rows) }),
)

const eraReviewed = eraIn(rowEras, 'calls that needed the user’s approval')
export const eraOverlong = eraIn(rowEras, 'a message that is not indexed completely')

/** How many calls needed an approval, all of the tool `run_terminal_cmd`, and how many of them were rejected. */
export const reviewedCalls = {
  calls: eraReviewed.messages.length - 1,
  rejected: eraReviewed.messages.filter((message) => JSON.stringify(message).includes('"rejected"')).length,
}

const datedAt = (hour: number) => ({ createdAt: new Date(Date.UTC(2026, 0, 5, hour)).toISOString() })

const request = (id: string, inputTokens: number) => ({
  ...datedAt(inputTokens),
  requestId: id,
  tokenCount: { inputTokens, outputTokens: 1 },
})

/** The recorded input of each chat that `writeForks` writes. */
export const forkedInput = { 'era-forked': 3, 'era-fork': 4, 'era-fork-anew': 0 }

/** A chat and two forks of it: one with the same ids, and one with new ids. */
export function writeForks(store: Store): void {
  const began = (day: number) => ({ createdAt: Date.UTC(2026, 0, day) })
  const first = { type: 2, text: 'It is the trunnion.', ...request('era-r1', 1) } as const
  const next = { type: 2, text: 'It is the gudgeon.', ...request('era-r2', 2) } as const
  const own = { type: 2, text: 'It is the flywheel.', ...request('era-r3', 4) } as const
  writeChat(store, 'era-fork-anew', { 'era-n1': first, 'era-n2': next }, began(4))
  writeChat(store, 'era-fork', { 'era-f1': first, 'era-f3': own }, began(3))
  writeChat(store, 'era-forked', { 'era-f1': first, 'era-f2': next }, began(2))
}

/** Rows that contain a count instead of the read content; the outputs are in the data sent to the model. */
export const eraOutputs: RowEra = {
  name: 'outputs in the model’s list, in messages replaced by a summary, and in a turn',
  id: 'era-outputs',
  words: ['gauges', 'nineteen', 'twentyone', 'thirtytwo'],
  messages: [
    { role: 'user' },
    ...['nineteen', 'twentyone', 'thirtytwo'].map((output) => ({
      parts: [{ kind: 'tool', output, outputFrom: 'blob' }],
    })),
  ],
  write(store) {
    const turn = Buffer.from(JSON.stringify(toolResult('in-turn', 'thirtytwo')))
    const blob = (value: unknown): string => keepBlob(store, value)
    const state = encodeState({
      entries: [blob(toolResult('in-list', 'nineteen'))],
      archives: [blob(encodeArchive([blob(toolResult('in-archive', 'twentyone'))]))],
      turns: [writeTurn({ blob }, { prompt: 'Read the gauges', steps: [turn] })],
    })
    const calls = ['in-list', 'in-archive', 'in-turn'].map((callId) => [callId, stub(callId)])
    const rows = { asked: { type: 1, text: 'Read the gauges' }, ...Object.fromEntries(calls) }
    writeChat(store, this.id, rows, { conversationState: asBase64(state) })
  },
}

const UUID = '3b2f8c1e-5a4d-4e6f-9a7b-0c1d2e3f4a5b'

/** Rows without a chat that must not be read, in both tables. */
export function writeNoise(store: Store): void {
  store.put(`inlineDiffUndoRedo-${UUID}-${UUID}`, { edits: [{ text: 'undone' }] })
  store.put('composer.autoAccept.lastSeenHead.main', 'abc')
  store.item('composer.autoAccept.lastSeenHead', 'abc')
}
