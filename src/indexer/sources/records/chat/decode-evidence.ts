import type { Evidence, EvidenceMethod } from '../../../projects/evidence.ts'
import { asRecord, filledString, filledStringIn, listIn, parsedRecord, recordIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

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
  const layouts = decodeContextEvidence(record)
  // Nearly every message comes through here, and almost none has these fields.
  if (record['workspaceUris'] === undefined && record['workspaceProjectDir'] === undefined) return layouts
  const root = firstOf(listIn(record, 'workspaceUris'), readFileUri) ?? readProjectFolder(record['workspaceProjectDir'])
  return root === null ? layouts : evidenceOf('workspace-uris', root)
}

/**
 * The folders of its window that a request sent along: in a row of its own, or in the message's row in older builds.
 */
export function decodeContextEvidence(context: JsonRecord): readonly Evidence[] {
  return evidenceOf('request-context', firstOf(listIn(context, 'projectLayouts'), readLayoutRoot))
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
