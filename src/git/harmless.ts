import { devNull } from 'node:os'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Path of an installed program; null if there is none. Folders that a project may control are skipped: `npx` puts the
 * project's own `node_modules/.bin` first in the PATH, and a relative folder may be anywhere.
 * @param endings of its file on Windows, the first one first
 */
export function findProgram(name: string, env: Environment, endings: readonly string[] = ['.exe']): string | null {
  const names = process.platform === 'win32' ? endings.map((ending) => `${name}${ending}`) : [name]
  const path = env['PATH'] ?? env['Path'] ?? ''
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(folder))
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // The file does not exist, or may not be run.
    return false
  }
}

/**
 * A repository's config can name programs, and its author may be hostile. Options on the command line override the config,
 * so our calls run no file watcher, hook, pager, external diff, signature check or transport. A bare repository inside the
 * folder is ignored too: a clone can contain one as plain files. Caches are small, see `MEMORY_MB_MAX`.
 */
const OVERRIDES: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': devNull,
  'core.untrackedCache': 'false',
  'core.deltaBaseCacheLimit': '32m',
  'core.packedGitLimit': '128m',
  'core.packedGitWindowSize': '32m',
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

/** Arguments before the name of git's command. */
export const HARMLESS_ARGUMENTS: readonly string[] = [
  '--no-pager',
  '--no-replace-objects',
  '--literal-pathspecs',
  ...Object.entries(OVERRIDES).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
]

/** Additional restrictions for `log` and `diff-tree`. */
export const HARMLESS_DIFF: readonly string[] = ['--no-ext-diff', '--no-textconv', '--no-color']

/**
 * The environment of git. It is built from an empty one, because nobody knows all variables that git reads. Without HOME
 * and a global config, exceptions in the user's own config have no effect either. A partial clone would fetch missing
 * objects over a transport that its config names, so no transport is allowed.
 */
export function harmlessEnvironment(env: Environment): Record<string, string> {
  const passed = ['PATH', 'Path', 'SystemRoot', 'SYSTEMROOT', 'windir', 'TMPDIR', 'TEMP', 'TMP']
  return {
    ...Object.fromEntries(passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
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

/** The memory that git may take for itself. A repository can have a commit of gigabytes in a file of a megabyte. */
export const MEMORY_MB_MAX = 256

const SHELL = '/bin/sh'
/** Files that git maps, such as packs, are not counted. If a system has no such limit, git runs without it. */
const LIMITED = `ulimit -d ${MEMORY_MB_MAX * 1024} 2>/dev/null; exec "$0" "$@"`

/** The program and the arguments that run git with these words and little memory. Without a shell the memory has no limit. */
export const limited = (git: string, words: readonly string[]): readonly [program: string, given: string[]] =>
  process.platform !== 'win32' && existsSync(SHELL) ? [SHELL, ['-c', LIMITED, git, ...words]] : [git, [...words]]
