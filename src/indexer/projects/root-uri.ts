import { posix, basename, isAbsolute, join, resolve } from 'node:path'
import type { Root, EvidenceWrite } from '../../model/change.ts'
import type { Remote } from '../../model/project.ts'
import { lstatSync } from 'node:fs'
import type { ChatId } from '../../model/ids.ts'
import { readRegular } from '../../regular-file.ts'
import { asRecord, filledStringIn, type JsonRecord, listIn, parsedRecord } from '../sources/records/json.ts'

/** What is below one of Cursor's own working trees, `~/.cursor/worktrees/<repository>/<id>`. */
const WITHIN_WORKTREE = /(?<=\/\.cursor\/worktrees\/[^/]+\/[^/]+)\/.*$/s

/**
 * The root of a folder that evidence names: for a folder in one of Cursor's working trees the working tree, with the
 * repository that its own file names, while it exists on this machine; an untitled workspace is named by its folders.
 */
export function findRoot(uri: string): Root | null {
  const given = normaliseRoot(uri)
  const untitled = given === null ? null : readUntitledName(given)
  if (given !== null && untitled !== null) return { ...given, name: untitled }
  const root =
    given === null || !WITHIN_WORKTREE.test(given.uri) ? given : normaliseRoot(given.uri.replace(WITHIN_WORKTREE, ''))
  const repository = root === null ? null : readRepository(root)
  const worktreeOf = repository === null ? null : normaliseRoot(repository)
  return root === null || worktreeOf === null ? root : { ...root, worktreeOf }
}

/** Keeps the evidence that names a root, and ranks it. The best method decides to which project a chat belongs. */
export function weighEvidence(
  chatId: ChatId,
  evidence: readonly Evidence[],
  { isOnly }: Pick<EvidenceWrite, 'isOnly'>,
): EvidenceWrite[] {
  return evidence.flatMap(({ method, uri }) => {
    const root = findRoot(uri)
    return root === null ? [] : [{ chatId, method, rank: evidenceMethods.indexOf(method) * 10, root, isOnly }]
  })
}

/** It names one folder. */
const BYTES_MAX = 64 * 1024

/** By path. Nearly all evidence names a folder that was asked about before. */
const known = new Map<string, string | null>()

/**
 * The repository of a folder on this machine that is a linked working tree of git: its `.git` is a file that names a folder
 * below the repository's. Null for any other folder, and for one that does not exist. An answer holds while the process
 * runs.
 */
function readRepository({ uri, path }: Root): string | null {
  if (!uri.startsWith('file:///') || !isAbsolute(path)) return null
  const found = known.get(path) ?? (known.has(path) ? null : nameIn(path))
  // A folder of Cursor's may be made after it is named.
  if (found !== null || !path.includes('/.cursor/worktrees/')) known.set(path, found)
  return found
}

function nameIn(folder: string): string | null {
  try {
    const file = join(folder, '.git')
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null
    const [, place] = /^gitdir: (.+)$/m.exec(readRegular(file, BYTES_MAX).toString()) ?? []
    // A submodule's file names `.git/modules`, and belongs to no other repository.
    return place === undefined
      ? null
      : (/^(.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(resolve(folder, place.trim()))?.[1] ?? null)
  } catch {
    // Evidence of a folder that cannot be read is still evidence.
    return null
  }
}

const UNTITLED = /[\\/]Workspaces[\\/]\d{13}[\\/]workspace\.json$/
const NAMES_MAX = 3

/**
 * The names of the folders of a workspace that was never saved, such as `shop, site`: Cursor lists them in a file of its own.
 * Null for any other root, and for a file that is gone or lists none.
 */
function readUntitledName({ uri, path }: Root): string | null {
  if (!uri.startsWith('file:///') || !isAbsolute(path) || !UNTITLED.test(path)) return null
  let text: string
  try {
    text = readRegular(path, BYTES_MAX).toString()
  } catch {
    return null
  }
  const folders = listIn(parsedRecord(text), 'folders').map(asRecord)
  const names = folders.flatMap((folder) => filledStringIn(folder, 'path') ?? filledStringIn(folder, 'uri') ?? [])
  const shown = names.slice(0, NAMES_MAX).map((name) => basename(name.replaceAll('\\', '/')))
  return shown.length === 0 ? null : [...shown, ...(names.length > NAMES_MAX ? ['…'] : [])].join(', ')
}

/**
 * Gives all spellings of one root folder the same URI: one form of percent-encoding, a Windows drive in lower case, no
 * trailing slash, an SSH host as text. Hosts and remotes are part of the identity. POSIX paths are case-sensitive and
 * compared exactly. Applied to its own result it changes nothing, so that a root that was stored, archived and restored
 * stays one project.
 * @param uri `file:///home/a/b`, `file:///c%3A/x`, `file://host/share`, `vscode-remote://ssh-remote%2Bhost/path`, or a
 * plain absolute path
 * @returns null if the text names no folder
 */
export function normaliseRoot(uri: string): Root | null {
  const parts = withoutShareOfWsl(splitUri(uri.toWellFormed().trim()))
  if (parts === null) return null
  const path = cleanPath(parts.path)
  if (path === null) return null
  const isRemote = parts.scheme === 'vscode-remote'
  const authority = isRemote ? plainAuthority(parts.authority) : nameOfShare(parts)
  const shown = shownPath(path, parts.scheme, authority)
  return {
    uri: `${parts.scheme}://${encodeURIComponent(authority)}${encodePath(path)}`,
    path: shown,
    name: posix.basename(path).replace(/\.code-workspace$/, '') || shown,
    remote: isRemote ? readRemote(authority) : null,
  }
}

interface UriParts {
  readonly scheme: string
  readonly authority: string
  readonly path: string
}

function splitUri(uri: string): UriParts | null {
  if (/^[A-Za-z]:[\\/]/.test(uri)) return { scheme: 'file', authority: '', path: `/${uri.replaceAll('\\', '/')}` }
  if (uri.startsWith('\\\\')) return splitShare(uri.replaceAll('\\', '/'))
  if (uri.startsWith('/')) return { scheme: 'file', authority: '', path: uri }
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/s.exec(uri)
  if (match === null) return null
  const [, scheme = '', authority = '', path = '/'] = match
  return { scheme: scheme.toLowerCase(), authority: decodeText(authority), path: decodeText(path) }
}

/** `//wsl$/Ubuntu/home`: a plain path has no percent-encoding. */
function splitShare(path: string): UriParts {
  const slash = path.indexOf('/', 2)
  const end = slash < 0 ? path.length : slash
  return { scheme: 'file', authority: path.slice(2, end), path: path.slice(end) || '/' }
}

/** `\\\\wsl$\\Ubuntu\\home` is a folder in WSL as a program of Windows names it. */
function withoutShareOfWsl(parts: UriParts | null): UriParts | null {
  if (parts?.scheme !== 'file' || !/^wsl(?:\$|\.localhost)$/i.test(parts.authority)) return parts
  const [, distribution = '', path = '/'] = /^\/([^/]+)(\/.*)?$/s.exec(posix.normalize(parts.path)) ?? []
  return distribution === '' ? parts : { scheme: 'vscode-remote', authority: `${WSL}+${distribution}`, path }
}

const nameOfShare = ({ scheme, authority }: UriParts): string =>
  scheme === 'file' ? authority.toLowerCase() : authority

function cleanPath(path: string): string | null {
  const clean = posix.normalize(path)
  const trimmed = clean.length > 1 ? clean.replace(/\/+$/, '') : clean
  const drive = /^\/([A-Za-z]):(.*)$/s.exec(trimmed)
  if (drive !== null) return `/${(drive[1] ?? '').toLowerCase()}:${drive[2] === '' ? '/' : drive[2]}`
  return trimmed === '' || trimmed.includes('\0') ? null : trimmed
}

function shownPath(path: string, scheme: string, authority: string): string {
  if (scheme !== 'file') return path
  if (/^\/[a-z]:/.test(path)) return path.slice(1)
  return authority === '' ? path : `//${authority}${path}`
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    // A single `%` is part of the name.
    if (error instanceof URIError) return text
    throw error
  }
}

const encodePath = (path: string): string => path.split('/').map(encodeText).join('/')
const encodeText = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':')

const SSH = 'ssh-remote'
const WSL = 'wsl'

/**
 * Gives an SSH window's authority one spelling: `ssh-remote+host`, with `user@` before the host and `:port` after it if
 * they are given. VS Code writes the host as text. If a URI would change the host (capital letters), VS Code writes it
 * as JSON in hex digits. Which of the two it writes depends on how the window was opened. The name of a WSL
 * distribution is case-insensitive; VS Code writes it in lower case in URIs and unchanged elsewhere. Other authorities
 * stay unchanged, because they name more than a host.
 */
export function plainAuthority(authority: string): string {
  const { name, rest } = splitAuthority(authority)
  if (name === WSL) return authority.toLowerCase()
  const parsed = name === SSH ? readJson(rest) : null
  if (parsed === null || Object.keys(parsed).some((key) => !['hostName', 'user', 'port'].includes(key)))
    return authority
  const { hostName, user, port } = parsed
  if (!isWord(hostName) || (user !== undefined && !isWord(user))) return authority
  if (port !== undefined && typeof port !== 'number') return authority
  const host = `${user === undefined ? '' : `${user}@`}${hostName}${port === undefined ? '' : `:${port}`}`
  // Such a host would be read as JSON the next time.
  return readJson(host) === null ? `${SSH}+${host}` : authority
}

/** `ssh-remote+host`. The host can be JSON, as text or as hex digits: `ssh-remote+7b22686f…`. */
export function readRemote(authority: string): Remote {
  const { name, rest } = splitAuthority(authority)
  return { kind: remoteKinds.get(name) ?? name, host: hostIn(name, rest) }
}

const remoteKinds: ReadonlyMap<string, string> = new Map([
  [SSH, 'ssh'],
  [WSL, 'wsl'],
  ['dev-container', 'container'],
  ['attached-container', 'container'],
])

function splitAuthority(authority: string): { readonly name: string; readonly rest: string } {
  const plus = authority.indexOf('+')
  if (plus < 0) return { name: authority, rest: '' }
  return { name: authority.slice(0, plus), rest: authority.slice(plus + 1) }
}

function hostIn(name: string, text: string): string {
  const parsed = readJson(text)
  if (parsed === null) return name === SSH ? withoutLogin(text) : text
  return [parsed['hostName'], parsed['host'], parsed['containerName'], parsed['hostPath']].find(isWord) ?? text
}

/** The host of `user@host:port`. An IPv6 address with a port is in brackets. */
function withoutLogin(text: string): string {
  const host = text.slice(text.lastIndexOf('@') + 1)
  return /^(\[[^\]]+\]|[^:]+):\d+$/.exec(host)?.[1] ?? (host || text)
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** @returns null if the text is not a JSON object, as text or as hex digits */
const readJson = (text: string): JsonRecord | null =>
  parsedRecord(/^7b[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex').toString() : text)

/**
 * Which kind of data named the project of a chat. The best comes first, and the first that names a root decides. The
 * last two are almost the only evidence for chats of the command line.
 */
export const evidenceMethods = [
  'header-table',
  'workspace-identifier',
  'header-list',
  'workspace-heads',
  'open-tab',
  'agent-project',
  'transcript-folder',
  'git-repo',
  'workspace-uris',
  'request-context',
  'cli-folder',
  'cli-workspace',
] as const
export type EvidenceMethod = (typeof evidenceMethods)[number]

export interface Evidence {
  readonly method: EvidenceMethod
  /** Root URI as the source spells it. */
  readonly uri: string
}
