import { posix } from 'node:path'
import type { Root } from '../../model/change.ts'
import type { Remote } from '../../model/project.ts'

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
function readJson(text: string): Record<string, unknown> | null {
  const plain = /^7b[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex').toString() : text
  if (!plain.startsWith('{')) return null
  try {
    return JSON.parse(plain) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

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
