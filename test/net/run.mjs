// A net under the tests: plants each fault of faults.json alone in a copy of the program and runs the tests that
// concern it. A fault that no test notices is a hole. It takes hours, so it is no part of CI.
//
//   node test/net/run.mjs                 all faults
//   node test/net/run.mjs 7 12 mirror     these numbers, and the faults of this room
//   node test/net/run.mjs --check         only whether each can still be planted, and whether its tests exist
//
// A fault whose line is gone after a change is planted anew by its words. The tests first run without any fault: one that
// fails then notices nothing. A planted fault that does not compile is noticed by nobody either.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const words = process.argv.slice(2)
const isCheck = words.includes('--check')
const chosen = words.filter((word) => !word.startsWith('--'))
/** @type {{ number: number, room: string, words: string, file: string, line: string, fault: string, tests: string[] }[]} */
const all = JSON.parse(readFileSync(new URL('faults.json', import.meta.url), 'utf8'))
const unknown = chosen.filter((word) => !all.some(({ number, room }) => word === String(number) || word === room))
if (unknown.length > 0) {
  console.error(`no fault has the number or room ${unknown.join(', ')}`)
  process.exit(2)
}
const faults = all.filter(
  ({ number, room }) => chosen.length === 0 || chosen.includes(String(number)) || chosen.includes(room),
)

/** The suite of a test file, by its folder. */
const suites = ['system', 'web', 'hub', 'soak']
const configOf = (test) => {
  const suite = suites.find((name) => test.startsWith(`test/${name}/`))
  return suite === undefined ? 'vitest.config.ts' : `vitest.${suite}.config.ts`
}

const unplantable = faults.flatMap(({ number, file, line, fault, tests }) => {
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
  const times = text.split(line).length - 1
  const missing = tests.filter((test) => !existsSync(join(root, test)))
  return [
    ...(times === 1 ? [] : [`${number}: ${file} has its line ${times} times instead of once`]),
    ...(line === fault ? [`${number}: it changes nothing`] : []),
    ...missing.map((test) => `${number}: ${test} does not exist`),
  ]
})
if (unplantable.length > 0) {
  console.error(unplantable.join('\n'))
  process.exit(1)
}
if (isCheck) {
  console.log(`${faults.length} faults can be planted`)
  process.exit(0)
}

const copy = mkdtempSync(join(tmpdir(), 'cursordex-net-'))
for (const path of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')) {
  if (path !== '' && existsSync(join(root, path))) cpSync(join(root, path), join(copy, path))
}
// Its own folder: the caches in it must not learn of a fault.
mkdirSync(join(copy, 'node_modules'))
for (const name of readdirSync(join(root, 'node_modules')).filter((each) => !/^\.(?:cache|vite)/.test(each))) {
  symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
}

const HANGS_MS = 900_000

/** What each suite says of these tests, until one fails: the test that fails, or why none ran. Null if all pass. */
function failureOf(tests, bail = 1, timeout = HANGS_MS) {
  for (const config of new Set(tests.map(configOf))) {
    const ofSuite = tests.filter((test) => configOf(test) === config)
    const call = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', config, `--bail=${bail}`, ...ofSuite]
    const options = { cwd: copy, encoding: 'utf8', maxBuffer: Infinity, timeout }
    const { status, error, stdout, stderr } = spawnSync(process.execPath, call, options)
    if (status === 0) continue
    const output = stripVTControlCharacters(stdout + stderr)
    const failed = [...new Set([...output.matchAll(/FAIL\s+(.*)/g)].map(([, test]) => test))].join('\n    ')
    if (failed !== '') return { test: failed }
    if (error?.code === 'ETIMEDOUT') return { test: `no end within ${HANGS_MS / 60_000} minutes` }
    return { test: null, why: output.trim().split('\n').slice(-30).join('\n') }
  }
  return null
}

try {
  const sound = failureOf([...new Set(faults.flatMap(({ tests }) => tests))], 0, 0)
  if (sound !== null) throw new Error(`without any fault:\n    ${sound.test ?? sound.why}`)
  const holes = []
  for (const { number, room, words: said, file, line, fault, tests } of faults) {
    const path = join(copy, file)
    const before = readFileSync(path, 'utf8')
    const began = Date.now()
    writeFileSync(
      path,
      before.replace(line, () => fault),
    )
    const failure = failureOf(tests)
    writeFileSync(path, before)
    if (!failure?.test) holes.push(number)
    const noticed = failure === null ? 'NOT NOTICED' : (failure.test ?? `NO TEST RAN\n${failure.why}`)
    console.log(`${number} ${room}: ${said}\n    ${noticed} (${Math.round((Date.now() - began) / 1000)} s)`)
  }
  console.log(`${faults.length - holes.length} of ${faults.length} noticed; not: ${holes.join(', ') || 'none'}`)
} finally {
  rmSync(copy, { recursive: true, force: true })
}
