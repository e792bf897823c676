import { posix } from 'node:path'
import type { Root } from '../../mirror/write/batch.ts'
import { plainAuthority, readRemote } from './remote-authority.ts'

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
  const parts = splitUri(uri.toWellFormed().trim())
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
