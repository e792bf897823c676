import { win32 } from 'node:path'
import { defaultConfigFile, type Surroundings } from '../../../settings.ts'
import { argumentsOf, noteOf, type Launch } from './launch.ts'
import type { RunTool, ServiceManager } from './manager.ts'
import { commentOf, xmlText } from './xml-text.ts'

const TASK = 'cursordex'

const call = (verb: string, ...args: string[]) => ['schtasks', `/${verb}`, '/tn', TASK, ...args]

/** A scheduled task of Windows. It starts the daemon at logon, with the user's own rights. */
export function scheduledTask({ env, homeDir }: Surroundings, run: RunTool): ServiceManager {
  const file = win32.join(win32.dirname(defaultConfigFile('win32', env, homeDir)), 'service.xml')
  const user = [env['USERDOMAIN'], env['USERNAME']].filter((name) => name !== undefined && name !== '').join('\\')
  // A task that does not run cannot be ended, which is no failure.
  const end = ['cmd', '/d', '/c', `schtasks /end /tn ${TASK} & exit 0`]
  const enable = [call('create', '/xml', file, '/f'), call('run')]
  return {
    name: 'task scheduler',
    file,
    render: (launch) => taskOf(launch, user),
    // As its first line says.
    encoding: 'utf16le',
    isAvailable: () => run(['schtasks', '/query', '/?']).status === 0,
    // The state is in the language of the system, and the process is not reported.
    state: () => (run(call('query')).status === 0 ? { summary: 'registered', pid: 'unknown', hasFailed: false } : null),
    enable,
    update: [end, ...enable],
    disable: [end, call('delete', '/f')],
    afterRemoval: [],
    leftovers: [],
    restart: [end, call('run')],
    logs: () => null,
    logFile: null,
    hint: () => null,
  }
}

/** `conhost --headless` runs a console program without a window, which the user could close by mistake. */
function taskOf(launch: Launch, user: string): string {
  const words = [launch.node, ...argumentsOf(launch)]
  const userId = user === '' ? '' : `      <UserId>${xmlText(user)}</UserId>\n`
  return `<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by "cursordex service install", which replaces it. -->
<!-- ${commentOf(noteOf(launch))} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>cursordex: a mirror of Cursor's chats, with search</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
${userId}    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
${userId}      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\\System32\\conhost.exe</Command>
      <Arguments>--headless ${words.map((word) => xmlText(quoted(word))).join(' ')}</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

/** A word as Windows programs read it: a backslash is only special before a quote. */
const quoted = (word: string): string => `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/\\+$/, '$&$&')}"`
