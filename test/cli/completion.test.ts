import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cursordexBin } from '../helpers/spawn-cursordex.ts'
import { run } from './fake-world.ts'

const root = mkdtempSync(join(tmpdir(), 'cursordex-completion-'))
const binDir = join(root, 'bin')

beforeAll(async () => {
  mkdirSync(binDir)
  // A completion script finds the program on PATH.
  const file = join(binDir, 'cursordex')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${cursordexBin}' "$@"\n`)
  chmodSync(file, 0o755)
  for (const name of ['bash', 'zsh', 'fish', 'powershell']) {
    writeFileSync(join(root, name), (await run(['completion', name])).out)
  }
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const env = () => ({
  ...process.env,
  PATH: `${binDir}:${process.env['PATH']}`,
  CURSORDEX_DATA_DIR: join(root, 'none'),
  XDG_DATA_HOME: root,
})

function shell(name: string, argv: readonly string[], input = ''): string {
  const done = spawnSync(name, argv, {
    encoding: 'utf8',
    env: { ...env(), LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
    input,
    timeout: 60_000,
  })
  if (done.error !== undefined) throw new Error(`${name} must be installed: ${done.error.message}`)
  expect(done.stderr).toBe('')
  return done.stdout
}

/** What a script gets: values and descriptions. */
function offered(...words: readonly string[]): string[][] {
  const done = spawnSync(process.execPath, [cursordexBin, 'completion', 'zsh', 'complete', '--', ...words], {
    encoding: 'utf8',
    env: env(),
  })
  expect({ status: done.status, stderr: done.stderr }).toEqual({ status: 0, stderr: '' })
  return done.stdout
    .split('\n')
    .slice(0, -2)
    .map((line) => line.split('\t'))
}

const valuesOf = (...words: readonly string[]): string[] => offered(...words).map(([value = '']) => value)

test('commands are offered with their descriptions, then options, choices and known lists', () => {
  expect(offered('')).toContainEqual(['chats', 'list chats'])
  expect(valuesOf('archive', 'v')).toEqual(['verify'])
  expect(valuesOf('show', '--o')).toEqual(['--orphans'])
  expect(valuesOf('show', '--data')).toEqual(['--data-dir'])
  expect(valuesOf('chats', '--sort', '')).toEqual(['newest', 'oldest', 'size', 'messages'])
  expect(valuesOf('search', '--role', 'u')).toEqual(['user'])
  expect(valuesOf('completion', 'p')).toEqual(['powershell'])
})

test('an option that takes a value may be a file, nothing is read or made, and a typed value is no command', () => {
  expect(valuesOf('chats', '--sort=')).toEqual(['newest', 'oldest', 'size', 'messages'])
  expect(valuesOf('--data-dir', 'search', 'chats', '--sort', 'o')).toEqual(['oldest'])
  expect(valuesOf('show', '--json', '')).toEqual([])
  expect(existsSync(join(root, 'none'))).toBe(false)
})

// Each shell must be here: the completion is only worth something if a real shell accepts it.
test('bash completes commands, options, choices and files', () => {
  /** Calls the completion function with words as bash splits them, and reads its answers back as a shell would. */
  function complete(...words: readonly string[]): string[] {
    const script = `
      source "$1"; shift
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      _cursordex
      for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done
    `
    return shell('bash', ['--norc', '-c', script, 'bash', join(root, 'bash'), 'cursordex', ...words])
      .split('\n')
      .slice(0, -1)
  }
  expect(complete('sea')).toEqual(['search'])
  expect(complete('chats', '--sort', '=', 'ol')).toEqual(['oldest'])
})

test('zsh completes commands, options and choices', () => {
  /** Types a line, Tab and Enter into a real terminal. Returns the words that the program then gets. */
  function complete(line: string): string {
    const out = join(root, 'words')
    rmSync(out, { force: true })
    writeFileSync(join(root, 'line'), `${line}\t`)
    // Keys that are typed during a completion are lost, so Enter is typed again and again.
    const inner = `
      PS1=; autoload -U compinit; compinit -u -D; source ${join(root, 'zsh')}
      cursordex() {
        if [[ $1 == completion ]]; then command cursordex "$@"
        else print -rn -- "\${(j:|:)@}" > ${out}.part; mv ${out}.part ${out}; fi
      }
    `
    writeFileSync(join(root, 'inner'), inner)
    const driver = `
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'source ${join(root, 'inner')}'
      zpty -w -n z "$(<${join(root, 'line')})"
      for i in {1..100}; do
        zpty -w -n z $'\\r'
        while zpty -r -t z text; do :; done
        [[ -e ${out} ]] && break
        sleep 0.3
      done
      zpty -d z
    `
    shell('zsh', ['-f', '-c', driver])
    return readFileSync(out, 'utf8')
  }
  expect(complete('cursordex chats --sort ol')).toBe('chats|--sort|oldest')
  expect(complete('cursordex search --role=us')).toBe('search|--role=user')
  expect(complete('cursordex arch')).toBe('archive')
})

test('fish completes choices, commands with their descriptions, and files', () => {
  const complete = (line: string): string[] =>
    shell('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', join(root, 'fish'), line])
      .split('\n')
      .slice(0, -1)
  expect(complete('cursordex chats --sort ol')).toEqual(['oldest'])
  expect(complete('cursordex chat')).toEqual(['chats\tlist chats'])
  expect(complete(`cursordex --config ${root}/ba`)).toEqual([`${root}/bash`])
})
