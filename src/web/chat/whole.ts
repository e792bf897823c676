import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { Message, MessagePage } from '../../api/answers/messages.ts'
import type { Part } from '../../model/part.ts'
import type { FileEdit } from '../../shared/edits.ts'
import { api, getList } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { useData, useLoaded, useLoader } from '../lib/hooks.ts'
import { decoded } from '../lib/parts.tsx'
import { isPrompt } from './rows.ts'
import { editsOfCall, linesOf, sortOf, type StepLine, withoutDiffs } from './tools.ts'
import type { ThreadState } from './use-thread.ts'

/** A message of the chat, and where it stands in it. */
export interface Spot {
  readonly id: string
  /** From 0, the beginning, to 1, the end. */
  readonly at: number
  readonly text: string
  readonly isGone: boolean
}

export interface Found {
  readonly spots: readonly Spot[]
  /** How many there are, as the page says it. */
  readonly total: string
}

/** So many are marked at most. All are counted. */
const SPOTS_MAX = 1000

/** The messages of this chat that a query finds, in their order, and how many there are. Null asks nothing. */
export function useFound(chatId: string, messageCount: number, asked: string | null): Found {
  const { data } = useLoaded(asked === null ? null : JSON.stringify([chatId, asked]), (signal) =>
    getList('/api/chats/:id/find', SPOTS_MAX, { id: chatId, query: { q: asked }, signal }),
  )
  return useMemo(() => {
    const items = asked === null ? [] : (data?.items ?? [])
    const last = Math.max(messageCount - 1, 1, ...items.map(({ message }) => message.position ?? 0))
    const spots = items.map(({ message: { id, position, isOrphan }, snippet }) => ({
      id,
      at: (position ?? last) / last,
      text: decoded(snippet.replaceAll(/<\/?mark>/g, '')),
      isGone: isOrphan,
    }))
    return { spots, total: `${data?.totalIsExact === false ? 'at least ' : ''}${count(data?.total)}` }
  }, [data, asked === null, messageCount])
}

export interface Outline {
  readonly prompts: readonly Spot[]
  readonly failures: readonly Spot[]
  readonly edits: readonly Spot[]
  /** Lines that were added and removed, by file; of nothing if only a part of the chat is loaded. */
  readonly lines: ReadonlyMap<string, StepLine['lines']>
}

/** By then the messages that were just loaded are on the screen. */
const DRAWN_AFTER_MS = 300

const NO_LINES: Outline['lines'] = new Map()

const isFailed = (part: Part): boolean => part.kind === 'error' || (part.kind === 'tool' && part.status === 'error')
const isEdit = (part: Part): boolean => part.kind === 'tool' && sortOf(part.name).view === 'edits'

/** Prompts, failures and edits of the whole chat: of its messages if all are loaded, else by searching it. */
export function useOutline(chat: ChatDetail | null, id: string, thread: ThreadState): Outline {
  const { items, offset, total } = thread
  const isWhole = offset === 0 && items.length >= total
  const [isDrawn, setDrawn] = useState(false)
  // After what is on the screen: the searches would take the processor from it.
  useEffect(() => {
    const timer = items.length === 0 ? undefined : setTimeout(() => setDrawn(true), DRAWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [items.length === 0])
  const asks = chat !== null && isDrawn && !isWhole
  const messageCount = chat?.messageCount ?? 0
  const editors = chat?.toolCounts.map(({ name }) => name).filter((name) => sortOf(name).view === 'edits') ?? []
  const prompts = useFound(id, messageCount, asks ? 'role:user' : null)
  const failures = useFound(id, messageCount, asks ? 'has:error' : null)
  const edits = useFound(
    id,
    messageCount,
    asks && editors.length > 0 ? editors.map((name) => `tool:${JSON.stringify(name)}`).join(' OR ') : null,
  )
  const [lines, setLines] = useState<Outline['lines']>(NO_LINES)
  // Long edits take a while to be compared.
  useEffect(() => {
    if (!isWhole) return undefined
    const timer = setTimeout(() => {
      const files = [...byFile(items)]
      setLines(new Map(files.map(([path, changes]) => [path, linesOf(changes.map(({ edit }) => edit))])))
    }, DRAWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [isWhole, items])
  return useMemo(() => {
    if (!isWhole) {
      return { prompts: prompts.spots, failures: failures.spots, edits: edits.spots, lines: NO_LINES }
    }
    const spotsOf = (fits: (message: Message) => boolean): Spot[] =>
      items.flatMap((message, index) => {
        const at = index / Math.max(1, items.length - 1)
        const isGone = message.isOrphan || message.deletedInCursor
        return fits(message) ? [{ id: message.id, at, text: wordsOf(message), isGone }] : []
      })
    return {
      prompts: spotsOf(isPrompt),
      failures: spotsOf(({ parts }) => parts.some(isFailed)),
      edits: spotsOf(({ parts }) => parts.some(isEdit)),
      lines,
    }
  }, [isWhole, items, prompts, failures, edits, lines])
}

/** The beginning of what a message says. */
export function wordsOf({ parts }: Message): string {
  const part = parts.find(({ kind }) => kind === 'text') ?? parts.find(({ kind }) => kind === 'attachment')
  return part === undefined ? '' : part.kind === 'text' ? part.text.trim() : part.kind === 'attachment' ? part.path : ''
}

export interface AllMessages {
  readonly kept: readonly Message[]
  /** How many of the chat's messages were looked at. */
  readonly read: number
  readonly total: number
  readonly error: unknown
}

/** Those messages of the whole chat that `fits` keeps: it is read from its beginning, 200 messages at a time. */
export function useAllMessages(id: string, fits: (message: Message) => boolean, version: unknown): AllMessages {
  const { error, load } = useLoader()
  const [state, setState] = useState({ kept: [] as readonly Message[], read: 0, total: 0 })
  useEffect(() => {
    void load(async (signal) => {
      const kept: Message[] = []
      for (let offset: number | null = 0; offset !== null;) {
        const query = { includeOrphans: true, limit: 200, offset }
        const page: MessagePage = await api.get('/api/chats/:id/messages', { id, query, signal })
        kept.push(...page.items.filter(fits))
        const end: number = page.nextOffset ?? offset + page.items.length
        offset = page.items.length === 0 || end >= page.total ? null : end
        setState({ kept: [...kept], read: end, total: page.total })
      }
    })
  }, [id, fits, version])
  return { ...state, error }
}

/** What the history of an edited file says of it. */
interface FileFact {
  readonly otherChats: number
  /** Commits that may contain an edit of this chat. */
  readonly commits: readonly string[]
}

export type FileFacts = ReadonlyMap<string, FileFact>

const FILES_MAX = 8

/** What the history of each edited file says, one after the other: nothing on the screen waits for it. */
export function useFileFacts(chat: ChatDetail | null, isReady: boolean): FileFacts {
  const [facts, setFacts] = useState<FileFacts>(new Map())
  const paths = chat?.files.filter(({ edits }) => edits > 0).slice(0, FILES_MAX) ?? []
  const key = paths.map(({ path, edits }) => `${path} ${edits}`).join('\n')
  const { load } = useLoader()
  useEffect(() => {
    if (chat === null || !isReady || paths.length === 0) return
    // What is not known is not shown.
    void load(async (signal) => {
      for (const { path } of paths) {
        const query = { path, project: chat.project?.id, limit: 200 }
        const { items } = await api.get('/api/files/history', { query, signal })
        const others = new Set(items.map(({ chatId }) => chatId).filter((other) => other !== chat.id))
        const commits = items.flatMap((edit) => (edit.chatId === chat.id ? (edit.commits ?? []) : []))
        setFacts((old) => new Map(old).set(path, { otherChats: others.size, commits }))
      }
    })
  }, [key, isReady])
  return facts
}

const COMMITS_MAX = 8
const DAY_MS = 86_400_000

/** Commits that the chat may have led to. The repository is asked only if an edit names a commit of it. */
export function useCommits({ project, createdAt: from, lastActivityAt: last }: ChatDetail, facts: FileFacts) {
  const shas = [...new Set([...facts.values()].flatMap(({ commits }) => commits))].slice(0, COMMITS_MAX)
  const to = last === null ? null : new Date(Date.parse(last) + 2 * DAY_MS).toISOString()
  const isAsked = shas.length > 0 && project !== null
  const { data } = useData(isAsked ? '/api/commits' : null, {
    query: { repo: project?.id ?? '', from, to, limit: 200 },
  })
  // Without its subject a commit is shown by its number.
  return shas.map((sha) => ({ sha, subject: data?.items.find((commit) => commit.sha === sha)?.subject ?? '' }))
}

/** What a message changed: its calls that were carried out. */
const editsIn = ({ parts }: Message): readonly FileEdit[] =>
  withoutDiffs(parts).flatMap((part) => (part.kind === 'tool' && part.status === 'completed' ? editsOfCall(part) : []))

export const hasEdits = (message: Message): boolean => editsIn(message).length > 0

export interface Change {
  readonly message: Message
  readonly edit: FileEdit
}

export function byFile(messages: readonly Message[]): ReadonlyMap<string, readonly Change[]> {
  const files = new Map<string, Change[]>()
  for (const message of messages) {
    for (const edit of editsIn(message)) {
      const path = edit.path ?? ''
      files.set(path, [...(files.get(path) ?? []), { message, edit }])
    }
  }
  return files
}
