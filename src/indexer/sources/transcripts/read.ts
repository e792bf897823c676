import { hash as digest } from 'node:crypto'
import { lstatSync, type Dirent } from 'node:fs'
import { join, parse, posix, win32 } from 'node:path'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { listEntries, readPlainFile } from '../../open-safely/cursor-file.ts'
import { filledString, parsedRecord } from '../records/json.ts'

/** Cursor's own limit is unknown; the largest known transcripts are far smaller. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

/** A transcript's file, from the directory listing. */
export interface TranscriptFile {
  /** Path relative to the folder of transcripts, with slashes. */
  readonly key: string
  readonly path: string
  readonly chatId: ChatId
  /** The chat in whose folder a subagent's transcript is. */
  readonly parentChatId: ChatId | null
  readonly octets: number
  /** Equal as long as the file is unchanged. */
  readonly state: string
}

/**
 * All transcripts in their folder, from `stat` alone: `<id>`, `<id>/<id>` and `<id>/subagents/<sid>`, each as `.txt`,
 * `.json` or `.jsonl`. Links are skipped.
 */
export function listTranscripts(folder: string): readonly TranscriptFile[] {
  const files: TranscriptFile[] = []
  const add = (within: readonly string[], name: string, parentChatId: ChatId | null): void => {
    const path = join(folder, ...within, name)
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat?.isFile() !== true) return
    const state = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
    const chatId = asChatId(parse(name).name)
    files.push({ key: [...within, name].join('/'), path, chatId, parentChatId, octets: Number(stat.size), state })
  }
  for (const entry of listEntries(folder)) {
    if (isTranscript(entry)) add([], entry.name, null)
    if (!entry.isDirectory()) continue
    for (const inner of listEntries(join(folder, entry.name))) {
      if (isTranscript(inner) && parse(inner.name).name === entry.name) add([entry.name], inner.name, null)
      if (!inner.isDirectory() || inner.name !== 'subagents') continue
      const agents = listEntries(join(folder, entry.name, inner.name)).filter(isTranscript)
      for (const { name } of agents) add([entry.name, inner.name], name, asChatId(entry.name))
    }
  }
  return files
}

const isTranscript = (entry: Dirent): boolean => entry.isFile() && /^.+\.(?:jsonl?|txt)$/i.test(entry.name)

const trustFile = (project: string): string => join(project, '.workspace-trusted')

/** The state of a project's transcripts and of the file that names its root. Null if there is no such folder. */
export function folderSignature(project: string, folder: string): string | null {
  const stat = lstatSync(folder, { bigint: true, throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return null
  const trust = lstatSync(trustFile(project), { bigint: true, throwIfNoEntry: false })
  const states = listTranscripts(folder).map(({ key, state }) => `${key}\0${state}`)
  const lines = [`${stat.dev}:${stat.ino}`, trust === undefined ? '-' : `${trust.size}:${trust.mtimeNs}`, ...states]
  return digest('sha256', lines.join('\n'))
}

/** Its bytes, or why it cannot be read. */
export function readTranscript({ path }: Pick<TranscriptFile, 'path'>): Buffer | IssueReason {
  const file = readPlainFile(path, FILE_BYTES_MAX)
  if (file.kind === 'bytes') return file.bytes
  return file.kind === 'too-large' ? 'too-large' : 'unreadable-page'
}

/** The root folder according to the project's own file; null if there is no such file, or it names none. */
export function readWorkspacePath(project: string): string | null {
  const bytes = readTranscript({ path: trustFile(project) })
  return typeof bytes === 'string' ? null : filledString(parsedRecord(bytes.toString('utf8'))?.['workspacePath'])
}

/** Names of the folders in a folder; null if it cannot be listed. */
export type ListFolders = (path: string) => readonly string[] | null

/** A longer search is given up: it would find several answers, or none. */
const LISTINGS_MAX = 200

/**
 * The folder from whose path Cursor made a project's name, if there is exactly one candidate. The name is lossy: every
 * character that is not a Latin letter or a digit became `-`, so `a-b` is `a/b`, `a-b`, `a.b` or `a b`. Null if no
 * candidate exists, if several exist, or if a folder on the way cannot be listed.
 */
export function resolveSlug(slug: string, platform: NodeJS.Platform, listFolders: ListFolders): string | null {
  const start = startOf(slug, platform)
  if (start === null) return null
  const paths = platform === 'win32' ? win32 : posix
  const waiting = [start]
  const matches: string[] = []
  for (let listings = 0; waiting.length > 0; listings += 1) {
    const { path, rest } = waiting.pop() ?? start
    const names = listings < LISTINGS_MAX ? listFolders(path) : null
    if (names === null) return null
    if (rest === '') matches.push(path)
    for (const name of names) {
      const after = restAfter(slugOf(name), rest)
      if (after !== null) waiting.push({ path: paths.join(path, name), rest: after })
    }
  }
  return matches.length === 1 ? (matches[0] ?? null) : null
}

/** A window without a folder has a fixed name, or only the digits of its id. */
export const isWithoutFolder = (slug: string): boolean => slug === 'empty-window' || /^\d*$/.test(slug)

/** `rest` is the part of the slug that the path does not cover yet. */
function startOf(slug: string, platform: NodeJS.Platform): { readonly path: string; readonly rest: string } | null {
  if (isWithoutFolder(slug)) return null
  if (platform !== 'win32') return { path: '/', rest: slugOf(slug) }
  const [, drive, rest] = /^([a-z])-+(.+)$/i.exec(slug) ?? []
  return drive === undefined || rest === undefined ? null : { path: `${drive}:\\`, rest: slugOf(rest) }
}

/** Some versions write one `-` per character, others one per run of characters. Treating a run as one covers both. */
const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/** A name without Latin letters and digits leaves nothing in the slug. */
function restAfter(name: string, rest: string): string | null {
  if (name === '') return rest
  if (name === rest) return ''
  return rest.startsWith(`${name}-`) ? rest.slice(name.length + 1) : null
}
