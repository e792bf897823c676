import { join } from 'node:path'
import type { Surroundings } from '../../../settings.ts'
import { argumentsOf, noteOf, type Launch } from './launch.ts'
import type { RunTool, ServiceManager, ServiceState } from './manager.ts'
import { commentOf, xmlText } from './xml-text.ts'

const LABEL = 'cursordex'

/** An agent of macOS. It starts the daemon at login. */
export function launchd({ homeDir }: Surroundings, uid: number, run: RunTool): ServiceManager {
  const domain = `gui/${uid}`
  const target = `${domain}/${LABEL}`
  const file = join(homeDir, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const logFile = join(homeDir, 'Library', 'Logs', `${LABEL}.log`)
  const enable = [
    ['launchctl', 'enable', target],
    ['launchctl', 'bootstrap', domain, file],
  ]
  return {
    name: 'launchd session',
    file,
    render: (launch) => plistOf(launch, logFile),
    encoding: 'utf8',
    isAvailable: () => run(['launchctl', 'print', domain]).status === 0,
    state: () => stateFrom(run(['launchctl', 'print', target])),
    enable,
    // launchd reads a changed file only when it is loaded again.
    update: [['launchctl', 'bootout', target], ...enable],
    disable: [['launchctl', 'bootout', target]],
    afterRemoval: [],
    leftovers: [],
    restart: [['launchctl', 'kickstart', '-k', target]],
    logs: (isFollowing) => ['tail', '-n', '100', ...(isFollowing ? ['-F'] : []), logFile],
    logFile,
    hint: () => null,
  }
}

/** Null if the agent is not loaded. */
function stateFrom({
  status,
  stdout,
}: {
  readonly status: number | null
  readonly stdout: string
}): ServiceState | null {
  if (status !== 0) return null
  const pid = Number(/^\s*pid = (\d+)$/m.exec(stdout)?.[1] ?? 0) || null
  return { summary: /^\s*state = (.+)$/m.exec(stdout)?.[1] ?? 'loaded', pid, hasFailed: false }
}

function plistOf(launch: Launch, logFile: string): string {
  const words = [launch.node, ...argumentsOf(launch)]
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "cursordex service install", which replaces it. -->
<!-- ${commentOf(noteOf(launch))} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xmlText(word)}</string>\n`).join('')}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>${xmlText(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${xmlText(logFile)}</string>
</dict>
</plist>
`
}
