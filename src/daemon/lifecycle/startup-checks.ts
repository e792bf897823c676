import { existsSync, readFileSync } from 'node:fs'

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
  const searched = places.length === 0 ? 'nowhere, because no folder is set' : `in ${places.join(', ')}`
  const isWindowsBelow = process.platform === 'linux' && /microsoft/i.test(readText('/proc/version'))
  const remedy = isWindowsBelow
    ? 'The files of a Cursor on the Windows side of this WSL cannot be read safely from here: then run cursordex in Windows.'
    : 'cursordex waits for it to appear.'
  return [
    `No Cursor found: looked ${searched}. ${remedy} Name another folder with --cursor-user-dir or --cursor-home, or see it work without Cursor: cursordex demo.`,
  ]
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
