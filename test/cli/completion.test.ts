import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cursordexBin, Workplace } from '../helpers/spawn-cursordex.ts'
import { run } from './fake-world.ts'

const NAMES = ['my shop', 'a:b=c', `it's "q" $HOME`, '数据库']
const place = new Workplace()
const root = mkdtempSync(join(tmpdir(), 'cursordex-completion-'))
const binDir = join(root, 'bin')

function addChat(id: string, project: string, title: string): void {
  const store = place.cursor.global()
  const call = {
    tool: 40,
    toolCallId: `call-${id}`,
    name: `tool_${project.length}`,
    status: 'completed',
    rawArgs: '{}',
  }
  // Only the ids of chats with their messages inside may contain a colon.
  const conversation = [
    { bubbleId: 'm1', type: 1, text: 'hello' },
    { bubbleId: 'm2', type: 2, text: '', toolFormerData: call },
  ]
  store.chat(id, { name: title, createdAt: Date.UTC(2026, 0, 5), conversation })
  store.close()
  place.cursor.workspace(`w-${id}`, { folder: `file:///code/${encodeURIComponent(project)}` }, [id]).close()
}

beforeAll(async () => {
  for (const [index, name] of NAMES.entries()) addChat(`${index}abc:def-${index}`, name, `Title ${index}:\nof ${name}`)
  await place.run(['sync'])
  mkdirSync(binDir)
  // A completion script finds the program on PATH.
  const file = join(binDir, 'cursordex')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${cursordexBin}' "$@"\n`)
  chmodSync(file, 0o755)
  for (const name of ['bash', 'zsh', 'fish', 'powershell']) {
    writeFileSync(join(root, name), (await run(['completion', name])).out)
  }
})

afterAll(async () => {
  await place.remove()
  rmSync(root, { recursive: true, force: true })
})

const env = () => ({
  ...process.env,
  PATH: `${binDir}:${process.env['PATH']}`,
  CURSORDEX_DATA_DIR: place.dataDir,
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

test('names of the mirror are offered, and archives of its folder', async () => {
  expect(valuesOf('search', '--project', '').toSorted()).toEqual(NAMES.toSorted())
  expect(offered('show', '1abc')).toEqual([['1abc:def-1', 'Title 1: of a:b=c']])
  expect(valuesOf('show', '').toSorted()).toEqual(['0abc:def-0', '1abc:def-1', '2abc:def-2', '3abc:def-3'])
  expect(valuesOf('show', '1abc:def-1', '')).toEqual([])
  expect(valuesOf('search', '--tool', '')).toEqual(['tool_14', 'tool_3', 'tool_5', 'tool_7'])
  expect(await place.run(['archive', 'run'])).toMatchObject({ exitCode: 0 })
  expect(valuesOf('archive', 'verify', '')).toEqual([expect.stringMatching(/-manual$/)])
})

test('a data folder that was typed counts; without a mirror, or with wrong settings, nothing is offered or made', () => {
  const none = join(root, 'none')
  expect(valuesOf('show', `--data-dir='${place.dataDir}'`, '0')).toEqual(['0abc:def-0'])
  expect(offered('--data-dir', none, 'search', '--project', '')).toEqual([])
  expect(offered('--config', join(root, 'no.json'), 'search', '--project', '')).toEqual([])
  expect(offered('--port', 'http', 'search', '--project', '')).toEqual([])
  expect(existsSync(none)).toBe(false)
})

// Each shell must be here: the completion is only worth something if a real shell accepts it.
test('bash completes commands, options, choices and names, which it quotes so that they arrive as they are', () => {
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
  /** The word that the shell passes to the program. */
  const meant = (typed: string): string => shell('bash', ['--norc', '-c', `set -- ${typed}; printf '%s|' "$@"`])
  expect(complete('sea')).toEqual(['search'])
  expect(complete('chats', '--sort', '=', 'ol')).toEqual(['oldest'])
  const replies = complete('search', '--project', '').map(meant)
  expect(replies.toSorted()).toEqual(NAMES.map((name) => `${name}|`).toSorted())
  for (const quote of [`"`, `'`]) {
    for (const name of ['my shop', `it's "q" $HOME`]) {
      const [reply = ''] = complete('search', '--project', `${quote}${name.slice(0, 2)}`)
      expect(meant(`${quote}${reply}${quote}`)).toBe(`${name}|`)
    }
  }
  // Only the text after a colon or an equals sign is replaced.
  expect(complete('show', '1abc', ':', 'd')).toEqual(['def-1'])
  expect(complete('search', '--project', '=', 'a', ':')).toEqual(['b=c'])
  expect(complete('search', '--project', String.raw`my\ s`)).toEqual([String.raw`my\ shop`])
})

test('zsh completes commands, options, choices and names, which arrive as they are', () => {
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
  for (const name of NAMES) {
    expect(complete(`cursordex search --project ${name.slice(0, 1)}`)).toBe(`search|--project|${name}`)
  }
  expect(complete(`cursordex search --project "my s`)).toBe('search|--project|my shop')
  expect(complete(String.raw`cursordex search --project my\ s`)).toBe('search|--project|my shop')
  expect(complete('cursordex search --project=my')).toBe('search|--project=my shop')
  expect(complete('cursordex show 1abc:d')).toBe('show|1abc:def-1')
})

test('fish completes choices, names with their descriptions, and files', () => {
  const complete = (line: string): string[] =>
    shell('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', join(root, 'fish'), line])
      .split('\n')
      .slice(0, -1)
  expect(complete('cursordex chats --sort ol')).toEqual(['oldest'])
  const names = complete('cursordex search --project ').map((line) => line.replace(/\t.*/, ''))
  expect(names.toSorted()).toEqual(NAMES.toSorted())
  expect(complete('cursordex show 1abc:d')).toEqual(['1abc:def-1\tTitle 1: of a:b=c'])
  for (const typed of [`"my s`, String.raw`my\ s`]) {
    expect(complete(`cursordex search --project ${typed}`)).toEqual([expect.stringMatching(/^my shop\t/)])
  }
  expect(complete('cursordex search --project=my')).toEqual([expect.stringMatching(/^--project=my shop\t/)])
  expect(complete(`cursordex --config ${root}/ba`)).toEqual([`${root}/bash`])
})
