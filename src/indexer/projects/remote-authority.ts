import type { Remote } from '../../model/project.ts'

const SSH = 'ssh-remote'
const WSL = 'wsl'

/**
 * Brings an SSH window's authority to one spelling: `ssh-remote+host`, with `user@` before and `:port` behind the host
 * where they are named. VS Code writes the host as it stands, or, where a URI would not keep it (capital letters), as
 * JSON in hex digits, and which of them depends on how the window was opened. The name of a WSL distribution, in which
 * case does not count, it writes in small letters where it makes a URI of it, and else as it is. Other authorities stay
 * as they are: theirs name more than a host.
 */
export function plainAuthority(authority: string): string {
  const { name, rest } = splitAuthority(authority)
  if (name === WSL) return authority.toLowerCase()
  const told = name === SSH ? readJson(rest) : null
  if (told === null || Object.keys(told).some((key) => !['hostName', 'user', 'port'].includes(key))) return authority
  const { hostName, user, port } = told
  if (!isWord(hostName) || (user !== undefined && !isWord(user))) return authority
  if (port !== undefined && typeof port !== 'number') return authority
  const host = `${user === undefined ? '' : `${user}@`}${hostName}${port === undefined ? '' : `:${port}`}`
  // It would be taken for JSON the next time.
  return readJson(host) === null ? `${SSH}+${host}` : authority
}

/** `ssh-remote+host`; the host can be JSON, plain or as hex digits: `ssh-remote+7b22686f…`. */
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
  const told = readJson(text)
  if (told === null) return name === SSH ? withoutLogin(text) : text
  return [told['hostName'], told['host'], told['containerName'], told['hostPath']].find(isWord) ?? text
}

/** Of `user@host:port` the host; an address of IPv6 stands in brackets, or has no port. */
function withoutLogin(text: string): string {
  const host = text.slice(text.lastIndexOf('@') + 1)
  return /^(\[[^\]]+\]|[^:]+):\d+$/.exec(host)?.[1] ?? (host || text)
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** @returns null where it is no JSON object, plain or as hex digits */
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
