import { encodeState, type Store } from '../cursor.ts'
import { asBase64, keepBlob, stub, toolResult } from '../blob-store.ts'
import { encodeArchive, writeTurn } from './cli-store.ts'

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

const review = (reviewData: object, more: object = {}) => ({
  name: 'run_terminal_cmd',
  status: 'completed',
  additionalData: { blockReason: 'outOfWorkspace', reviewData },
  ...more,
})
const byDefault = { status: 'None', selectedOption: 'rejectAndTellWhatToDoDifferently' }

/** Calls that needed the user's approval, with the outcome of each. */
const reviewed: readonly (readonly [status: string, call: object])[] = [
  ['completed', review({ status: 'Done', selectedOption: 'accept' })],
  ['completed', review({ status: 'Done', selectedOption: 'run' })],
  ['rejected', review({ status: 'Done', selectedOption: 'reject' })],
  ['rejected', review({ status: 'Done', selectedOption: 'rejectAndTellWhatToDoDifferently' })],
  ['completed', review(byDefault, { result: '{"output":"built","rejected":false}' })],
  ['completed', review(byDefault)],
  ['rejected', review({ status: 'None', selectedOption: 'run' }, { result: '{"rejected":true}' })],
  ['completed', { name: 'run_terminal_cmd', status: 'completed', additionalData: { blockReason: 'protectedConfig' } }],
]

/** All calls use the tool `run_terminal_cmd`. */
export const reviewedCalls = {
  calls: reviewed.length,
  rejected: reviewed.filter(([status]) => status === 'rejected').length,
}

const eraReviewed: RowEra = {
  name: 'calls that needed the user’s approval',
  id: 'era-reviewed',
  words: ['mill', 'built'],
  messages: [{ role: 'user' }, ...reviewed.map(([status]) => ({ parts: [{ kind: 'tool', status }] }))],
  write(store) {
    const calls = reviewed.map(([, toolFormerData], at) => [`call-${at}`, { type: 2, text: '', toolFormerData }])
    writeChat(store, this.id, { asked: { type: 1, text: 'Build the mill wheel' }, ...Object.fromEntries(calls) })
  },
}

const recorded = { tokenCount: { inputTokens: 40, outputTokens: 2 } }

const eraPlaceholder: RowEra = {
  name: 'tokens of a turn on a row with nothing to show',
  id: 'era-placeholder',
  words: ['asked', 'answered', 'thanked'],
  messages: [
    { tokens: { input: 40, output: 2, source: 'recorded' } },
    { tokens: { input: 40, output: 2, source: 'recorded' } },
    { tokens: { input: 80, output: 4, source: 'recorded' } },
  ],
  write(store) {
    writeChat(store, this.id, {
      m1: { type: 1, text: 'Asked', ...recorded },
      m2: { type: 2, text: 'Answered', ...recorded },
      m3: { type: 1, text: 'Thanked', ...recorded },
      m4: { type: 2, text: '', ...recorded },
    })
  },
}

const hourOf = (hour: number): string => new Date(Date.UTC(2026, 0, 5, hour)).toISOString()
const datedAt = (hour: number) => ({ createdAt: hourOf(hour) })
const fromNeighbour = (hour: number) => ({ createdAt: hourOf(hour), createdAtSource: 'neighbour' })

const eraTimes: RowEra = {
  name: 'messages with and without a time',
  id: 'era-times',
  words: ['millpond', 'headrace', 'tailrace', 'sluice', 'penstock'],
  messages: [datedAt(1), fromNeighbour(1), fromNeighbour(1), fromNeighbour(9), datedAt(9)],
  write(store) {
    writeChat(store, this.id, {
      m1: { type: 1, text: 'Where is the millpond?', ...datedAt(1) },
      m2: { type: 2, text: 'Above the headrace.' },
      m3: { type: 2, text: 'And below it the tailrace.' },
      m4: { type: 1, text: 'And the sluice?' },
      m5: { type: 2, text: 'At the penstock.', ...datedAt(9) },
    })
  },
}

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

export const eraOverlong: RowEra = {
  name: 'a message that is not indexed completely',
  id: 'era-overlong',
  words: ['lockkeeper', 'shortly'],
  messages: [
    { role: 'user', isIndexCapped: true },
    { role: 'assistant', isIndexCapped: false },
  ],
  write(store) {
    writeChat(store, this.id, {
      m1: { type: 1, text: `What the lockkeeper wrote: ${'log '.repeat(500_000)}` },
      m2: { type: 2, text: 'Shortly told.' },
    })
  },
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

/** Chats whose rows contain everything. */
export const rowEras: readonly RowEra[] = [eraReviewed, eraPlaceholder, eraTimes, eraOverlong]

const UUID = '3b2f8c1e-5a4d-4e6f-9a7b-0c1d2e3f4a5b'

/** Rows without a chat that must not be read, in both tables. */
export function writeNoise(store: Store): void {
  store.put(`inlineDiffUndoRedo-${UUID}-${UUID}`, { edits: [{ text: 'undone' }] })
  store.put('composer.autoAccept.lastSeenHead.main', 'abc')
  store.item('composer.autoAccept.lastSeenHead', 'abc')
}
