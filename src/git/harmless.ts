import { devNull } from 'node:os'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

const NAME = process.platform === 'win32' ? 'git.exe' : 'git'

/**
 * Where git is installed; null where it is not. Folders that a project brings along are no place to look: `npx` puts
 * the project's own `node_modules/.bin` before all others, and a relative folder may be anywhere.
 */
export function findGit(env: Environment): string | null {
  const path = env['PATH'] ?? env['Path'] ?? ''
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(folder))
  return folders.map((folder) => join(folder, NAME)).find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Not there, or not for us.
    return false
  }
}

/**
 * A repository's config names programs, and whoever made the repository wrote it. What stands on the command line wins
 * over it: no file watcher, hook, pager, viewer of differences, checker of signatures or transport is run by what we ask.
 * A bare repository inside the folder, which a clone can bring along as plain files, is not taken for one.
 */
const OVERRIDES: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': devNull,
  'core.untrackedCache': 'false',
  'core.pager': 'cat',
  'core.attributesFile': devNull,
  'core.sshCommand': 'false',
  'core.gitProxy': 'false',
  'credential.helper': '',
  'diff.external': '',
  'diff.orderFile': devNull,
  'diff.relative': 'false',
  'diff.ignoreSubmodules': 'all',
  'diff.submodule': 'short',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'log.follow': 'false',
  'log.mailmap': 'false',
  'log.showRoot': 'true',
  'log.showSignature': 'false',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
  'submodule.recurse': 'false',
}

/** Before the name of git's command. */
export const HARMLESS_ARGUMENTS: readonly string[] = [
  '--no-pager',
  '--no-replace-objects',
  '--literal-pathspecs',
  ...Object.entries(OVERRIDES).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
]

/** What a log and a comparison of trees may not do besides. */
export const HARMLESS_DIFF: readonly string[] = ['--no-ext-diff', '--no-textconv', '--no-color']

/**
 * All that git is told of its surroundings. Made anew and not cleaned: nobody knows all the variables that git heeds.
 * Without HOME and with no global config, the user's own exceptions do not count either. A partial clone would fetch
 * what it misses, over a transport that its config names: no transport is allowed.
 */
export function harmlessEnvironment(env: Environment): Record<string, string> {
  const kept = ['PATH', 'Path', 'SystemRoot', 'SYSTEMROOT', 'windir', 'TMPDIR', 'TEMP', 'TMP']
  return {
    ...Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_TERMINAL_PROMPT: '0',
  }
}
