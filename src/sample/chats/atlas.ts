import { edit, file, grep, lines, read, run, say, think, todos, user } from '../script.ts'
import type { Thread } from '../script.ts'

interface Rerender {
  readonly component: string
  readonly prop: string
  readonly renders: string
}

function rerender({ component, prop, renders }: Rerender): Thread {
  const path = `web/src/map/${component}.tsx`
  return {
    project: 'atlas',
    title: `${component} renders ${renders} times a second`,
    mode: 'agent',
    steps: [
      user(
        `The map stutters while panning. The profiler says ${component} renders ${renders} times a second although nothing in it changes.`,
        file(path),
      ),
      read(
        path,
        `export const ${component} = memo(function ${component}({ ${prop} }: Props) {\n  return <Layer {...${prop}} />\n})\n`,
      ),
      grep(`<${component}`, `web/src/map/canvas.tsx:77:      <${component} ${prop}={{ zoom, bounds }} />`),
      think(`memo compares by identity, and canvas.tsx makes a new ${prop} object on each render.`, 2),
      edit(
        'web/src/map/canvas.tsx',
        `-      <${component} ${prop}={{ zoom, bounds }} />`,
        `+      <${component} ${prop}={${prop}} />`,
        `+  const ${prop} = useMemo(() => ({ zoom, bounds }), [zoom, bounds])`,
      ),
      run('npm run test:web', ' Test Files  31 passed (31)\n      Tests  204 passed (204)'),
      say(
        `\`memo\` could not help, for the object in \`${prop}\` was new each time. With \`useMemo\` it renders twice a second while panning, once for each tile that arrives.`,
      ),
    ],
  }
}

interface Token {
  readonly symptom: string
  readonly store: string
}

const refreshToken = ({ symptom, store }: Token): Thread => ({
  project: 'atlas',
  title: `Signed out after ${symptom}`,
  mode: 'plan',
  steps: [
    user(
      `People are signed out after ${symptom}. I think refresh token rotation is to blame: two tabs refresh at once and the second one uses a token that is spent.`,
    ),
    todos('> draw the sequence', '- choose: lock in the browser, or grace period on the server', '- tests'),
    think(
      'Two ways: navigator.locks around the refresh, or the server accepts the previous token for some seconds and answers with the same successor. The second also covers retries over a bad network.',
      12,
    ),
    say(
      `Your reading is right. Tab A and tab B both hold \`rt_17\`; A gets \`rt_18\`, B is refused and, by the reuse rule, the whole family is revoked.\n\nI would do both, the lock first:\n\n\`\`\`ts\nawait navigator.locks.request('refresh', async () => {\n  if (isFresh(${store}.read())) return\n  ${store}.write(await refresh())\n})\n\`\`\``,
    ),
    user(
      'Is navigator.locks there in all browsers that we support?',
      lines('.browserslistrc', 'last 2 years\nnot dead'),
    ),
    say('Yes: Chrome 69, Firefox 96, Safari 15.4. In a worker too.'),
    todos('x draw the sequence', 'x choose: lock in the browser, or grace period on the server', '- tests'),
  ],
})

const bundleSize: Thread = {
  project: 'atlas',
  title: 'The bundle grew by 310 kB',
  mode: 'agent',
  steps: [
    user('The web bundle grew by 310 kB with the last merge. What came in?'),
    run(
      'npx vite build --mode analyze | tail -6',
      'dist/assets/index-BqkX0.js   1,204.11 kB │ gzip: 371.20 kB\ndist/assets/moment-DfO2.js     294.92 kB │ gzip:  71.83 kB',
    ),
    grep(
      "from 'moment'",
      `api/src/report/month-end.ts:1:import moment from 'moment'`,
      `shared/src/dates.ts:2:import moment from 'moment'`,
    ),
    say(
      '`moment` with all its languages, through `shared/src/dates.ts`, which the web imports since yesterday. It uses one function, `moment().endOf("month")`.',
    ),
    edit(
      'shared/src/dates.ts',
      "-import moment from 'moment'",
      '-export const monthEnd = (at: Date) => moment(at).endOf("month").toDate()',
      '+export const monthEnd = (at: Date) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0, 23, 59, 59, 999))',
    ),
    run('npx vite build | tail -2', 'dist/assets/index-C0lLe.js     906.40 kB │ gzip: 298.77 kB'),
    say('Back at 906 kB. `api` keeps `moment`, it never reaches a browser there.'),
  ],
}

const darkMode: Thread = {
  project: 'atlas',
  title: 'Contrast of the legend in dark mode',
  mode: 'chat',
  steps: [
    user(
      'axe complains: "Elements must meet minimum color contrast ratio thresholds", legend text #8a8f98 on #1f2430. How much lighter must it be?',
    ),
    say(
      '`#8a8f98` on `#1f2430` is 4.7:1, enough for normal text (4.5:1), but the legend is set at `opacity: .8`, and axe reckons with that: 3.4:1. Take the opacity away, or use `#a9aeb8` (6.9:1).',
    ),
  ],
}

export const atlasChats: readonly Thread[] = [
  rerender({ component: 'TileLayer', prop: 'view', renders: '60' }),
  rerender({ component: 'RouteOverlay', prop: 'options', renders: '24' }),
  refreshToken({ symptom: 'opening a second tab', store: 'sessionVault' }),
  refreshToken({ symptom: 'waking the laptop', store: 'tokenStore' }),
  bundleSize,
  darkMode,
]
