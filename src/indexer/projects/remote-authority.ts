import type { Remote } from '../../model/project.ts'

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
