import { join } from 'node:path'
import type { Surroundings } from '../../../settings.ts'
import { argumentsOf, noteOf, type Launch } from './launch.ts'
import type { RunTool, ServiceManager, ServiceState } from './manager.ts'

const UNIT = 'cursordex.service'

const call = (...args: string[]) => ['systemctl', '--user', ...args]

/** The user's systemd. It starts the daemon at login, or at boot if lingering is on. */
export function systemd({ env, homeDir }: Surroundings, uid: number, run: RunTool): ServiceManager {
  const named = env['XDG_CONFIG_HOME']
  const folder = join(named?.startsWith('/') === true ? named : join(homeDir, '.config'), 'systemd', 'user')
  const enable = [call('daemon-reload'), call('enable', '--now', UNIT)]
  return {
    name: 'systemd user manager',
    file: join(folder, UNIT),
    render: unitOf,
    encoding: 'utf8',
    isAvailable: () => run(call('show-environment')).status === 0,
    state: () =>
      stateFrom(run(call('show', '--property=LoadState,ActiveState,SubState,MainPID,UnitFileState', UNIT)).stdout),
    enable,
    // `enable --now` does not restart a running service.
    update: [...enable, call('restart', UNIT)],
    disable: [call('disable', '--now', UNIT)],
    afterRemoval: [call('daemon-reload')],
    // Without a manager nothing else removes the link that `enable` made.
    leftovers: [join(folder, 'default.target.wants', UNIT)],
    restart: [call('restart', UNIT)],
    logs: (isFollowing) => [
      'journalctl',
      '--user',
      '--unit',
      UNIT,
      '--lines',
      '100',
      ...(isFollowing ? ['--follow'] : ['--no-pager']),
    ],
    logFile: null,
    hint: () => {
      const { status, stdout } = run(['loginctl', 'show-user', String(uid), '--property=Linger'])
      const isOff = status === 0 && stdout.trim() === 'Linger=no'
      return isOff ? 'It stops when you log out. To keep it running: loginctl enable-linger' : null
    },
  }
}

/** Null if no unit file is loaded. */
function stateFrom(properties: string): ServiceState | null {
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(properties)?.[1] || null
  if (value('LoadState') === 'not-found') return null
  const [active, sub, enabled] = [value('ActiveState'), value('SubState'), value('UnitFileState')]
  return {
    summary: `${active ?? 'unknown'} (${sub ?? 'unknown'}), ${enabled ?? 'not enabled'}`,
    pid: Number(value('MainPID') ?? 0) || null,
    hasFailed: active === 'failed',
  }
}

const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase())

/**
 * Only restrictions that a user manager can apply without privileges, and that Node allows. V8 compiles at run time, so
 * memory must stay writable and executable. Namespaces for the file system would hide Cursor's files on some systems.
 *
 * - The daemon has about 12 threads, each search and each job about 11.
 * - `mixed`: the daemon stops its own processes.
 * - Exit codes 2 and 3 mean wrong settings and another daemon. Starting again would not help.
 * - The daemon lists the addresses of the machine only if it listens beyond loopback. Linux answers that over netlink.
 */
function unitOf(launch: Launch): string {
  const families = ['AF_UNIX', 'AF_INET', 'AF_INET6', ...(isLoopback(launch.host) ? [] : ['AF_NETLINK'])]
  const variables = Object.entries(launch.env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
  // Unlike an argument, the path of the program may contain a single $.
  const command = [quoted(launch.node), ...argumentsOf(launch).map((word) => quoted(word).replaceAll('$', '$$$$'))]
  return `# Written by "cursordex service install", which replaces it. Make changes with "systemctl --user edit cursordex".
# ${noteOf(launch)}
[Unit]
Description=cursordex: a mirror of Cursor's chats, with search

[Service]
Type=exec
ExecStart=${command.join(' ')}
${variables.join('')}Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3
KillMode=mixed
TimeoutStopSec=30
UMask=0077
Nice=10
IOSchedulingClass=idle
CPUWeight=20
MemoryHigh=512M
MemoryMax=1G
TasksMax=256
NoNewPrivileges=yes
RestrictAddressFamilies=${families.join(' ')}
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`
}

/** A word in double quotes. systemd reads backslashes as in C, and % as the start of a specifier. */
const quoted = (word: string): string =>
  `"${word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('%', '%%')
    .replaceAll(/\p{Cc}/gu, (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
