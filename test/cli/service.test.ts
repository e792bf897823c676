import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cursordexBin } from '../helpers/spawn-cursordex.ts'
import { FakeManager } from './fake-manager.ts'

let fake: FakeManager
const argument = process.argv[1] ?? ''
beforeEach(async () => {
  fake = new FakeManager()
  await fake.open()
  process.argv[1] = cursordexBin
})
afterEach(async () => {
  process.argv[1] = argument
  await fake.remove()
})

const read = (file: string): string => readFileSync(file, 'utf8')

describe('install', () => {
  test('writes the unit, starts it, and says where the daemon runs', async () => {
    const { exitCode, out, err } = await fake.run('install')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toBe(
      `Installed: ${fake.unit}\nIt runs at ${fake.url}, and starts at each login.\n` +
        'Unless lingering is on, it stops when you log out. To keep it running: loginctl enable-linger\n',
    )
    expect(fake.changes()).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable --now cursordex.service',
    ])
    expect(read(fake.unit)).toContain(`"${cursordexBin}" "serve"\n`)
  })

  test('a second run with other settings updates the file and restarts the service', async () => {
    await fake.run('install')
    fake.changes()
    fake.willStart(process.ppid)
    const { out } = await fake.run('install', '--port', '4871')
    expect(out).toContain(`Installed: ${fake.unit}\nIt runs at ${fake.url}, and`)
    expect(fake.changes()).toEqual([
      'systemctl --user disable --now cursordex.service',
      'systemctl --user daemon-reload',
      'systemctl --user enable --now cursordex.service',
    ])
    expect(read(fake.unit)).toContain('"serve" "--port" "4871"\n')
  })

  test('a daemon that was started by hand is named before anything is written', async () => {
    fake.runByHand()
    const { exitCode, err } = await fake.run('install')
    expect(exitCode).toBe(3)
    expect(err).toContain(`A daemon already runs at ${fake.url} (process ${process.pid})`)
    expect(err).toContain('Stop it first')
    expect([existsSync(fake.unit), fake.changes()]).toEqual([false, []])
  })

  test('without a user manager the file is written, and the error says what to run later', async () => {
    fake.hasNoManager()
    const { exitCode, out, err } = await fake.run('install')
    expect([exitCode, out]).toEqual([1, `Installed: ${fake.unit}\n`])
    expect(err).toContain('"systemctl --user daemon-reload" failed')
    expect(err).toContain(
      'Run it later: systemctl --user daemon-reload && systemctl --user enable --now cursordex.service\n',
    )
    expect(existsSync(fake.unit)).toBe(true)
  })

  test('a failing systemctl is quoted', async () => {
    fake.tool('systemctl', ['case "$*" in *enable*) echo "Unit is masked." >&2; exit 1 ;; esac'])
    const { exitCode, err } = await fake.run('install')
    expect(exitCode).toBe(1)
    expect(err).toContain('"systemctl --user enable --now cursordex.service" failed: Unit is masked.')
  })

  test('a daemon that ends at once is reported, with the way to its log', async () => {
    fake.willFail()
    expect((await fake.run('install')).out).toContain('does not answer yet. See: cursordex service logs\n')
  })

  test('--print changes nothing', async () => {
    const { exitCode, out, err } = await fake.run('install', '--print')
    expect([exitCode, out.split('\n')[1], err]).toEqual([0, '[Unit]', `This would be written to ${fake.unit}:\n\n`])
    expect([existsSync(fake.unit), fake.changes()]).toEqual([false, []])
    await fake.run('install')
    expect(read(fake.unit)).toBe(out)
  })

  test('a wrong setting is refused before anything is written', async () => {
    expect((await fake.run('install', '--port', 'x')).exitCode).toBe(2)
    expect(existsSync(fake.unit)).toBe(false)
  })
})

test('the temporary folder of npx is refused, with a remedy', async () => {
  const script = join(fake.root, '.npm', '_npx', 'a1', 'node_modules', 'cursordex', 'bin.js')
  mkdirSync(dirname(script), { recursive: true })
  writeFileSync(script, '')
  process.argv[1] = script
  const { exitCode, err } = await fake.run('install', '--print')
  expect(exitCode).toBe(1)
  expect(err).toMatch(/temporary folder of npx \(.*_npx.*\)/)
  expect(err).toContain('npm install --global cursordex')
})

test('status shows the file, the manager, and the daemon', async () => {
  expect((await fake.run('status')).out).toBe(
    'service  not installed; install it with: cursordex service install\n' +
      'manager  not active\ndaemon   not running\n',
  )
  await fake.run('install')
  expect((await fake.run('status')).out).toBe(
    `service  installed, ${fake.unit}\nmanager  active\n` +
      `daemon   ${fake.url}, version 1.2.3, process ${process.pid}\n`,
  )
})

test('restart waits for the new daemon and shows its version', async () => {
  fake.willStart(process.pid, '1.0.0')
  await fake.run('install')
  fake.changes()
  fake.willStart(process.ppid)
  const { exitCode, out } = await fake.run('restart')
  expect([exitCode, out]).toEqual([0, `It runs at ${fake.url}, version 1.2.3.\n`])
  expect(fake.changes()).toEqual(['systemctl --user restart cursordex.service'])
})

test('restart fails if the service is not installed, or if its daemon does not come back', async () => {
  expect(await fake.run('restart')).toMatchObject({
    exitCode: 1,
    err: 'The service is not installed.\nInstall it: cursordex service install\n',
  })
  await fake.run('install')
  fake.willFail()
  const { exitCode, err } = await fake.run('restart')
  expect([exitCode, err]).toEqual([1, 'The daemon was restarted and does not answer.\nSee: cursordex service logs\n'])
})

test('uninstall stops the service, removes the file, and lists what remains', async () => {
  await fake.run('install')
  fake.changes()
  const config = join(fake.root, '.config', 'cursordex', 'config.json')
  mkdirSync(dirname(config), { recursive: true })
  writeFileSync(config, '{}')
  const { exitCode, out } = await fake.run('uninstall')
  expect([exitCode, out]).toEqual([
    0,
    `Removed: ${fake.unit}\nThese remain. Delete them if you do not want them any more:\n` +
      `  ${fake.dataDir}\n  ${config}\n`,
  ])
  expect(fake.changes()).toEqual(['systemctl --user disable --now cursordex.service'])
  expect([existsSync(fake.unit), existsSync(fake.dataDir)]).toEqual([false, true])
  expect((await fake.run('uninstall')).out).toBe('The service is not installed.\n')
})

test('logs follows the journal, or shows its end', async () => {
  expect((await fake.run('logs')).exitCode).toBe(0)
  await fake.run('logs', '--no-follow')
  expect(fake.changes()).toEqual([
    'journalctl --user --unit cursordex.service --lines 100 --no-pager --follow',
    'journalctl --user --unit cursordex.service --lines 100 --no-pager',
  ])
  fake.tool('journalctl', ['exit 1'])
  expect((await fake.run('logs')).err).toContain('Is journalctl installed?\n')
})

describe('with a launchctl that behaves as its manual says', () => {
  const domain = `gui/${userInfo().uid}`
  let plist: string
  beforeEach(() => {
    plist = join(fake.root, 'Library', 'LaunchAgents', 'cursordex.plist')
    const [loaded, daemon] = [join(fake.root, 'loaded'), join(fake.root, 'daemon.json')]
    const dataDir = join(fake.root, 'Library', 'Application Support', 'cursordex')
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(daemon, JSON.stringify({ pid: process.pid, url: fake.url, version: '1.2.3' }))
    fake.tool('launchctl', [
      'case "$*" in',
      `  print*) [ -e "${loaded}" ] ;;`,
      `  bootstrap*) [ ! -e "${loaded}" ] && touch "${loaded}" && cp "${daemon}" "${dataDir}" ;;`,
      `  bootout*) rm "${loaded}" "${dataDir}/daemon.json" ;;`,
      'esac',
    ])
  })
  const changes = () => fake.changes().filter((call) => !call.startsWith('launchctl print'))

  test('install and uninstall load and unload the agent', async () => {
    expect((await fake.runOn('darwin', 'install')).out).toBe(
      `Installed: ${plist}\nIt runs at ${fake.url}, and starts at each login.\n`,
    )
    const load = [`launchctl enable ${domain}/cursordex`, `launchctl bootstrap ${domain} ${plist}`]
    expect(changes()).toEqual(load)
    expect((await fake.runOn('darwin', 'status')).out).toContain('manager  active\n')
    expect((await fake.runOn('darwin', 'uninstall')).out).toContain(`Removed: ${plist}\n`)
    expect([changes(), existsSync(plist)]).toEqual([[`launchctl bootout ${domain}/cursordex`], false])
  })

  test('logs shows the end of the log file', async () => {
    fake.tool('tail', [])
    await fake.runOn('darwin', 'logs')
    expect(fake.changes()).toEqual([`tail -n 100 -F ${join(fake.root, 'Library', 'Logs', 'cursordex.log')}`])
  })
})

test('on Windows logs says that there are none', async () => {
  expect((await fake.runOn('win32', 'logs')).err).toContain('keeps no output of the daemon')
})
