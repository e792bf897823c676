import type { MessageColumns } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import {
  DigestWalk,
  packCall,
  packDigest,
  type DigestMessage,
  callsOf,
  type CallFact,
  replaceInDigest,
} from './digest-format.ts'
import { parseParts } from '../parse-parts.ts'

const FIND_WORD = `select num from digest_words where word = ?`
const ADD_WORD = `insert into digest_words (word) values (?)`

/** Numbers of tool, model and file names. Valid for one transaction only: after a rollback the cache would be wrong. */
export class DigestWords {
  readonly #db: Mirror
  readonly #nums = new Map<string, number>()

  constructor(db: Mirror) {
    this.#db = db
  }

  numOf(word: string): number {
    const known = this.#nums.get(word)
    if (known !== undefined) return known
    const row = prepared<{ num: number }>(this.#db, FIND_WORD).get(word)
    const num = row?.num ?? Number(prepared(this.#db, ADD_WORD).run(word).lastInsertRowid)
    this.#nums.set(word, num)
    return num
  }
}

type CountedColumns = Pick<
  MessageColumns,
  'role' | 'model' | 'created_at' | 'created_at_source' | 'is_orphan' | 'tool_calls'
>

/** The current state of a message. */
export interface CountedMessage {
  readonly body: number
  readonly columns: CountedColumns
  /** Null if the message was not read again. Its calls are then taken from the former digest. */
  readonly calls: readonly CallFact[] | null
}

const SAVE_DIGEST = `
insert into chat_digests (chat, entries) values (?, ?) on conflict (chat) do update set entries = excluded.entries
`
const IS_DIGESTED = `delete from undigested where chat = ?`

/** Writes the whole digest of a chat. Messages outside the thread are not part of it. */
export function writeDigest(
  db: Mirror,
  words: DigestWords,
  chatNum: number,
  messages: readonly CountedMessage[],
): void {
  saveDigest(db, chatNum, makeDigest(db, words, chatNum, messages))
}

function saveDigest(db: Mirror, chatNum: number, digest: Buffer): void {
  prepared(db, SAVE_DIGEST).run(chatNum, digest)
  prepared(db, IS_DIGESTED).run(chatNum)
}

/** @param words maps names to numbers: those of the mirror, or those of a reader that digests in memory */
export function makeDigest(
  db: Mirror,
  words: Pick<DigestWords, 'numOf'>,
  chatNum: number,
  messages: readonly CountedMessage[],
): Buffer {
  const thread = messages.filter(({ columns }) => columns.is_orphan === 0)
  const isAllRead = thread.every(({ columns, calls }) => calls !== null || columns.tool_calls === 0)
  const before = isAllRead ? null : readCalls(db, chatNum)
  return packDigest(
    chatNum,
    thread.map((message) => {
      const { body, columns, calls } = message
      const former = calls === null && columns.tool_calls > 0 ? before?.get(body) : undefined
      const facts = calls ?? (columns.tool_calls > 0 && former === undefined ? readCallsOfBody(db, body) : [])
      return { ...digestMessage(words, message, facts), ...former }
    }),
  )
}

/** @param facts the message's tool calls */
const digestMessage = (
  words: Pick<DigestWords, 'numOf'>,
  { body, columns }: CountedMessage,
  facts: readonly CallFact[],
): DigestMessage => ({
  body,
  atMs: columns.created_at,
  hasOwnTime: isOwn(columns),
  isUser: columns.role === 'user',
  model: columns.model === null ? 0 : words.numOf(columns.model),
  callCount: facts.length,
  calls: facts.flatMap((fact) => packFact(words, fact)),
})

const packFact = (words: Pick<DigestWords, 'numOf'>, { name, status, paths }: CallFact): number[] =>
  packCall(
    words.numOf(name),
    status,
    paths.map((path) => words.numOf(path)),
  )

/** A time taken from the chat or from a neighbour does not tell when the message itself was sent. */
const isOwn = ({ created_at, created_at_source: source }: CountedColumns): boolean =>
  created_at !== null && source !== 'neighbour' && source !== 'chat'

const READ_DIGEST = `select entries from chat_digests where chat = ?`

/** Null if the chat has no digest yet. */
export const readDigest = (db: Mirror, chatNum: number): Buffer | null =>
  prepared<{ entries: Buffer }>(db, READ_DIGEST).get(chatNum)?.entries ?? null

type FormerCalls = Pick<DigestMessage, 'callCount' | 'calls'>

/** The calls of each message in the stored digest, by body. */
function readCalls(db: Mirror, chatNum: number): ReadonlyMap<number, FormerCalls> {
  const calls = new Map<number, FormerCalls>()
  const digest = readDigest(db, chatNum)
  if (digest === null) return calls
  const walk = new DigestWalk(digest)
  while (walk.nextChat())
    while (walk.next()) if (walk.callCount > 0) calls.set(walk.body, { callCount: walk.callCount, calls: walk.calls })
  return calls
}

const READ_PARTS = `select parts from bodies where num = ?`

function readCallsOfBody(db: Mirror, body: number): readonly CallFact[] {
  const row = prepared<{ parts: string }>(db, READ_PARTS).get(body)
  return row === undefined ? [] : callsOf(parseParts(row.parts))
}

const LIST_THREAD = `
select body, role, model, created_at, created_at_source, is_orphan, tool_calls
from messages where chat = ? and is_orphan = 0
order by position, key
`

export function listCounted(db: Mirror, chatNum: number): CountedMessage[] {
  const rows = prepared<CountedMessage['columns'] & { readonly body: number }>(db, LIST_THREAD).all(chatNum)
  return rows.map(({ body, ...columns }) => ({ body, columns, calls: null }))
}

/**
 * Updates some messages of a chat's digest. The other messages, and the times of all messages, must be unchanged.
 * @param changed messages that were read again, with their calls
 */
export function updateDigest(
  db: Mirror,
  words: DigestWords,
  chatNum: number,
  changed: readonly CountedMessage[],
): void {
  const before = readDigest(db, chatNum)
  const after = changed.reduce<Buffer | null>(
    (digest, message) => digest && replaceInDigest(digest, digestMessage(words, message, message.calls ?? [])),
    before,
  )
  // The chat has no digest yet, or the digest lacks one of these messages.
  if (after === null) writeDigest(db, words, chatNum, listCounted(db, chatNum))
  else if (before !== null && !after.equals(before)) saveDigest(db, chatNum, after)
}
