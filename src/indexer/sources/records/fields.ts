import type { TodoItem } from '../../../model/part.ts'
import { type Evidence, type EvidenceMethod, normaliseRoot } from '../../projects/root-uri.ts'
import {
  asRecord,
  filledString,
  firstFilledIn,
  filledStringIn,
  type JsonRecord,
  isBlank,
  numberIn,
  parsedRecord,
  wellFormed,
  listIn,
  recordIn,
} from './json.ts'

/** The path of a URI, which is VS Code's URI object or a string. A string is returned unchanged. */
export function readUriPath(uri: unknown): string | null {
  return filledString(uri) ?? firstFilledIn(asRecord(uri), ['fsPath', 'path', 'external', 'relativeWorkspacePath'])
}

/** The path of an object that has a `uri`, or is a URI itself. */
export function readItemPath(item: unknown): string | null {
  return readUriPath(asRecord(item)?.['uri']) ?? readUriPath(item)
}

/** `default` and `auto` leave the choice to Cursor and are not models. */
export function readModelName(record: JsonRecord | null, field: string): string | null {
  const name = filledStringIn(record, field)
  return name === null || /^\s*(?:default|auto)\s*$/i.test(name) ? null : name
}

/** To-do items: objects or, in older builds, JSON strings. Items without text are dropped. */
export function decodeTodos(items: readonly unknown[]): readonly TodoItem[] {
  return items.map(decodeTodo).filter((item) => item !== null)
}

function decodeTodo(item: unknown): TodoItem | null {
  const record = parsedRecord(item)
  if (record === null) return typeof item === 'string' && !isBlank(item) ? bareTodo(item) : null
  const content = filledStringIn(record, 'content')
  if (content === null) return null
  const id = filledStringIn(record, 'id') ?? numberIn(record, 'id')?.toString() ?? null
  return { id, content, status: filledStringIn(record, 'status') }
}

const bareTodo = (text: string): TodoItem => ({ id: null, content: wellFormed(text), status: null })

/** Most records have no evidence; all of them share this array. */
const noEvidence: readonly Evidence[] = []

/** Where a chat belongs, according to its own row in newer builds. */
export function decodeEvidence(chat: JsonRecord): readonly Evidence[] {
  const root = readWorkspaceUri(chat) ?? folderUri(chat['workspaceUri'])
  const repository = readFileUri(asRecord(listIn(chat, 'trackedGitRepos')[0])?.['repoPath'])
  return [...evidenceOf('workspace-identifier', root), ...evidenceOf('git-repo', repository)]
}

/**
 * The root of the window when a message was sent. If the window had several, the first counts: they are in the window's
 * order, and a chat belongs to one project.
 */
export function decodeMessageEvidence(record: JsonRecord): readonly Evidence[] {
  // The folders of its window that a request sent along in older builds.
  const layouts = evidenceOf('request-context', firstOf(listIn(record, 'projectLayouts'), readLayoutRoot))
  // Nearly every message comes through here, and almost none has these fields.
  if (record['workspaceUris'] === undefined && record['workspaceProjectDir'] === undefined) return layouts
  const root = firstOf(listIn(record, 'workspaceUris'), readFileUri) ?? readProjectFolder(record['workspaceProjectDir'])
  return root === null ? layouts : evidenceOf('workspace-uris', root)
}

/** `workspaceIdentifier`, in chats and heads. For a `.code-workspace` file it names that file. */
export function readWorkspaceUri(record: JsonRecord): string | null {
  const workspace = recordIn(record, 'workspaceIdentifier')
  return readUri(workspace?.['uri']) ?? readUri(workspace?.['configPath'])
}

/** A URI, as text or as VS Code's URI object. */
export const readUri = (uri: unknown): string | null => filledString(uri) ?? uriText(asRecord(uri))

/** The URI of a local or remote file or folder, from a URI or an absolute path. Null for anything else. */
export function readFileUri(place: unknown): string | null {
  const text = filledString(place)
  const uri = text === null ? uriText(asRecord(place)) : hasScheme(text) ? text : uriOfPath(text)
  return uri !== null && /^(?:file|vscode-remote):/i.test(uri) ? uri : null
}

/** A drive letter is not a scheme. */
const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(text)

/** Plain text that is not a URI may be a name or an id, even if it begins like a path. */
const folderUri = (uri: unknown): string | null =>
  typeof uri === 'string' && !hasScheme(uri) ? null : readFileUri(uri)

function evidenceOf(method: EvidenceMethod, uri: string | null): readonly Evidence[] {
  return uri === null ? noEvidence : [{ method, uri }]
}

function firstOf(items: readonly unknown[], read: (item: unknown) => string | null): string | null {
  for (const item of items) {
    const uri = read(item)
    if (uri !== null) return uri
  }
  return null
}

/** Some builds name the folder in which Cursor stores its own notes about the project. */
function readProjectFolder(path: unknown): string | null {
  const uri = readFileUri(path)
  return uri === null || /[\\/]\.cursor[\\/]projects[\\/]/.test(uri) ? null : uri
}

/** How deep inside a layout its root may be named. The layout itself is a tree of all files. */
const layoutDepthMax = 3

function readLayoutRoot(layout: unknown): string | null {
  let level = [parsedRecord(layout)].filter((record) => record !== null)
  for (let depth = 0; depth < layoutDepthMax; depth += 1) {
    const named = level.flatMap((record) => [record['rootPath'], record['absPath']])
    const root = firstOf(named, readFileUri)
    if (root !== null) return root
    level = level.flatMap((record) => Object.values(record).map(asRecord)).filter((record) => record !== null)
  }
  return null
}

function uriText(uri: JsonRecord | null): string | null {
  return filledStringIn(uri, 'external') ?? uriOfParts(uri) ?? uriOfPath(filledStringIn(uri, 'fsPath'))
}

function uriOfParts(uri: JsonRecord | null): string | null {
  const scheme = filledStringIn(uri, 'scheme')
  const path = filledStringIn(uri, 'path')
  if (path === null) return null
  // Without a scheme, `fsPath` is more reliable than `path`, because it includes the drive.
  if (scheme === null) return filledStringIn(uri, 'fsPath') === null ? uriOfPath(path) : null
  return `${scheme}://${encoded(filledStringIn(uri, 'authority') ?? '')}${encoded(rooted(path))}`
}

/**
 * A file system path of any OS, recognised by its form, because a chat can come from another machine. Null for a
 * relative path.
 */
function uriOfPath(path: string | null): string | null {
  if (path === null) return null
  if (path.startsWith('\\\\')) return `file:${encoded(path.replaceAll('\\', '/'))}`
  if (/^[a-z]:[\\/]/i.test(path)) return `file://${encoded(rooted(path.replaceAll('\\', '/')))}`
  return path.startsWith('/') ? `file://${encoded(path)}` : null
}

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

/** Percent-encodes everything but the separators and a drive's colon. */
const encoded = (path: string): string => encodeURIComponent(path).replaceAll('%2F', '/').replaceAll('%3A', ':')

/** Enough to find the root that contains most of them. */
const pathsMax = 12
const lengthMax = 4096

/**
 * Files and folders that a chat is about, as distinct normalised URIs. They decide where a chat belongs if there is no
 * other evidence. Relative paths are useless for that. Of `context`, which is the unsent draft, only the attached
 * places are read.
 */
export function decodePaths(chat: JsonRecord): readonly string[] {
  const found = new Set<string>()
  for (const place of namedPlaces(chat)) {
    const uri = readPlace(place)
    if (uri !== null && uri.length <= lengthMax) found.add(uri)
    if (found.size === pathsMax) break
  }
  return [...found]
}

function* namedPlaces(chat: JsonRecord): Generator<unknown, void> {
  const context = recordIn(chat, 'context')
  yield* listIn(context, 'fileSelections')
  yield* listIn(context, 'folderSelections')
  yield* listIn(chat, 'newlyCreatedFiles')
  // Their values are the texts of files; only the keys are read, which are URIs.
  yield* Object.keys(recordIn(chat, 'codeBlockData') ?? {})
  yield* Object.keys(recordIn(chat, 'originalFileStates') ?? {})
  yield* listIn(context, 'attachedCodeChunks')
  yield* listIn(chat, 'attachedCodeChunks')
  yield* listIn(chat, 'allAttachedFileCodeChunksUris')
}

function readPlace(place: unknown): string | null {
  const uri = readFileUri(asRecord(place)?.['uri']) ?? readFileUri(place)
  return uri === null ? null : (normaliseRoot(uri)?.uri ?? null)
}
