import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Warnings about the machine for the start of the daemon. Each is a sentence with a remedy.
 * @param places all `User` folders and homes where Cursor may have chats
 * @param accounts the contents of `/etc/passwd`
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
      `Cursor has its chats on the Windows side of this WSL (${windows}). Its files cannot be read safely from here. Run cursordex in Windows.`,
    ]
  }
  const searched = places.length === 0 ? 'nowhere, because no folder is set' : `in ${places.join(', ')}`
  return [
    `No Cursor found: looked ${searched}. cursordex waits for it to appear. Name another folder with --cursor-user-dir or --cursor-home, or see it work without Cursor: cursordex demo.`,
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
  return ['Other people have accounts on this machine and can reach the HTTP port. Use --auth to require the token.']
}

const isShell = (shell: string | undefined): boolean => shell !== undefined && !/(nologin|false|sync)$/.test(shell)

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The file is missing or unreadable.
    return ''
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The folder is missing or unreadable.
    return []
  }
}
