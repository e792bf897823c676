import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What of the machine around the daemon its user should be told at the start. One sentence each, with its remedy.
 * @param places `User` folders and homes of Cursor's, wherever it may keep chats
 * @param accounts as the system lists them
 */
export function startupWarnings(
  places: readonly string[],
  asksForToken: boolean,
  accounts = readText('/etc/passwd'),
): string[] {
  return [...noCursor(places), ...(asksForToken ? [] : otherPeople(accounts))]
}

function noCursor(places: readonly string[]): string[] {
  if (places.some((place) => existsSync(place))) return []
  const windows = cursorOnWindowsSide()
  if (windows !== null) {
    return [
      `Cursor keeps its chats on the Windows side of this WSL (${windows}), where its files cannot be read safely from here: run cursordex in Windows.`,
    ]
  }
  const looked = places.length === 0 ? 'nowhere, for no folder is set' : `in ${places.join(', ')}`
  return [
    `No Cursor found: looked ${looked}. Watching for it to appear; name another folder with --cursor-user-dir or --cursor-home, or see it work without Cursor: npx cursordex demo.`,
  ]
}

function cursorOnWindowsSide(): string | null {
  if (process.platform !== 'linux' || !/microsoft/i.test(readText('/proc/version'))) return null
  const users = '/mnt/c/Users'
  const found = listNames(users)
    .map((name) => join(users, name, 'AppData', 'Roaming', 'Cursor', 'User'))
    .find((path) => existsSync(path))
  return found ?? null
}

function otherPeople(accounts: string): string[] {
  if (process.platform !== 'linux') return []
  const us = process.getuid?.()
  const others = accounts
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      ([, , uid, , , , shell]) => Number(uid) >= 1000 && Number(uid) < 60_000 && Number(uid) !== us && isShell(shell),
    )
  if (others.length === 0) return []
  return [
    'Other people have accounts on this machine and can reach the HTTP port: turn on --auth to ask for the token.',
  ]
}

const isShell = (shell: string | undefined): boolean => shell !== undefined && !/(nologin|false|sync)$/.test(shell)

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not there or not for us: then it tells nothing.
    return ''
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The same: nothing to be told.
    return []
  }
}
