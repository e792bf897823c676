import { useEffect, useState } from 'preact/hooks'
import type { ChatDetail } from '../../api/answers/chats.ts'
import type { FileEditAnswer } from '../../api/answers/projects.ts'
import { api } from '../lib/api.ts'

interface FileFact {
  /** Lines that this chat's edits added and removed; null if no call says it. */
  readonly lines: { readonly added: number; readonly removed: number } | null
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
  useEffect(() => {
    if (chat === null || !isReady || paths.length === 0) return undefined
    const controller = new AbortController()
    const read = async (): Promise<void> => {
      for (const { path } of paths) {
        const query = { path, project: chat.project?.id, limit: 200 }
        const { items } = await api.get('/api/files/history', { query, signal: controller.signal })
        setFacts((old) => new Map(old).set(path, factOf(items, chat.id)))
      }
    }
    // What is not known is not shown.
    read().catch(() => null)
    return () => controller.abort()
  }, [key, isReady])
  return facts
}

function factOf(edits: readonly FileEditAnswer[], chatId: string): FileFact {
  const own = edits.filter((edit) => edit.chatId === chatId)
  const told = own.filter(({ linesAdded, linesRemoved }) => linesAdded !== null && linesRemoved !== null)
  const lines = {
    added: told.reduce((sum, { linesAdded }) => sum + (linesAdded ?? 0), 0),
    removed: told.reduce((sum, { linesRemoved }) => sum + (linesRemoved ?? 0), 0),
  }
  return {
    lines: told.length === 0 ? null : lines,
    otherChats: new Set(edits.map((edit) => edit.chatId)).size - (own.length > 0 ? 1 : 0),
    commits: [...new Set(own.flatMap(({ commits }) => commits ?? []))],
  }
}

export interface ChatCommit {
  readonly sha: string
  readonly subject: string | null
}

const COMMITS_MAX = 8
const DAY_MS = 86_400_000

/** Commits that the chat may have led to. The repository is asked only if an edit names a commit of it. */
export function useCommits(chat: ChatDetail | null, facts: FileFacts): readonly ChatCommit[] {
  const shas = [...new Set([...facts.values()].flatMap(({ commits }) => commits))].slice(0, COMMITS_MAX)
  const [subjects, setSubjects] = useState<ReadonlyMap<string, string>>(new Map())
  const repo = chat?.project?.id
  const from = chat?.createdAt ?? null
  useEffect(() => {
    if (shas.length === 0 || repo === undefined) return undefined
    const controller = new AbortController()
    const last = chat?.lastActivityAt ?? null
    const to = last === null ? null : new Date(Date.parse(last) + 2 * DAY_MS).toISOString()
    api
      .get('/api/commits', { query: { repo, from, to, limit: 200 }, signal: controller.signal })
      .then(({ items }) => setSubjects(new Map(items.map(({ sha, subject }) => [sha, subject]))))
      // Without its subject a commit is shown by its number.
      .catch(() => null)
    return () => controller.abort()
  }, [shas.join(' '), repo])
  return shas.map((sha) => ({ sha, subject: subjects.get(sha) ?? null }))
}
