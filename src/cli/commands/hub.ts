import type { Command } from 'commander'
import type { HubState } from '../../api/answers/hub.ts'
import { forget, grant, initHub, revoke, type ForgetOrder, type GrantOrder } from '../../hub/administer.ts'
import { hubNotSet } from '../../hub/explain-error.ts'
import { withHub, type Hub } from '../../hub/client.ts'
import { SCHEMA_VERSION } from '../../hub/schema.ts'
import { UserError } from '../../model/user-error.ts'
import { printable } from '../../text/printable.ts'
import { addExamples, addGroup, addRepeatable } from '../input/options.ts'
import type { Session } from '../session.ts'
import { bytesText, countText, numberText, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'

export function addCommand(program: Command, session: Session): void {
  const about = 'share chats with other machines through a PostgreSQL'
  const examples = ["cursordex hub push --project '*'", "cursordex hub pull --project '*'"] as const
  const parent = addGroup(program, 'hub', about, ...examples)
  const administer = administerOf(parent, session)
  addInit(administer)
  addSharing(parent, session)
  addRights(administer)
  addForget(administer)
  addServe(parent, session)
}

/** The commands that need the mirror. */
function addSharing(parent: Command, session: Session): void {
  type Given = { readonly project?: string[] | null; readonly dryRun?: boolean }

  const push = parent.command('push')
  push.description('send chats of this machine that the hub does not have as they are')
  addRepeatable(push, '--project <project>', "only this project: its name, path or id; '*' is all")
  push.option('--dry-run', 'only count what would be sent')
  const examples = ["cursordex hub push --project '*'", 'cursordex hub push --project shop --dry-run'] as const
  session.asks(push, examples, async (answers, { project = null, dryRun = false }: Given) => {
    const done = await answers.post('/api/hub/push', { body: { projects: project, dryRun } })
    await session.printAnswer(push, done, ({ pushed, leftOut, notice, ...moved }) => [
      `${countText(pushed, 'chat')} ${dryRun ? 'would be sent' : 'sent'}${movedText(moved)}`,
      ...leftOut.map(({ id, why }) => `left out: ${id} (${why})`),
      ...(notice === null ? [] : [notice]),
    ])
  })

  const pull = parent.command('pull').description('fetch what changed at the hub since the last pull')
  addRepeatable(pull, '--project <project>', "only this project, as hub status names it; '*' is all")
  const another = 'cursordex hub pull --project github.com/acme/app'
  session.asks(pull, ["cursordex hub pull --project '*'", another], async (answers, { project = null }: Given) => {
    const done = await answers.post('/api/hub/pull', { body: { projects: project } })
    await session.printAnswer(pull, done, ({ pulled, ...moved }) => [
      `${countText(pulled, 'chat')} fetched${movedText(moved)}`,
    ])
  })

  const status = parent.command('status')
  status.description('show machines, projects and sizes at the hub, and what waits')
  const elsewhere = 'cursordex hub status --hub-url postgres://me@db.example/chats'
  session.asks(status, ['cursordex hub status --json', elsewhere], async (answers) =>
    session.printAnswer(status, await answers.get('/api/hub'), (state) => stateText(state, session.screen)),
  )
}

const movedText = (moved: { readonly removed: number; readonly unchanged: number; readonly bytes: number }): string => {
  const removed = moved.removed === 0 ? '' : `, ${numberText(moved.removed)} removed`
  return `${removed}, ${numberText(moved.unchanged)} unchanged (${bytesText(moved.bytes)})`
}

const textOf = (lines: readonly string[]): string => `${printable(lines.join('\n'))}\n`

function stateText(state: HubState, screen: Screen): string {
  if (state.url === null) return 'No hub is set. Set hub.url; see docs/hub.md.\n'
  const when = (at: string | null): string => (at === null ? 'never' : timeText(at, screen))
  const { waiting = 0 } = state.hub ?? {}
  const head = textOf([
    `${state.url} as ${state.hub?.role ?? '?'}, this machine is ${state.machine}`,
    `last push ${when(state.lastPushAt)}, last pull ${when(state.lastPullAt)}`,
    ...(state.purgesWaiting === 0 ? [] : [`${countText(state.purgesWaiting, 'purge')} the hub does not know yet`]),
    ...(waiting === 0
      ? []
      : [`${countText(waiting, 'chat')} to be sent by hand: found by a working tree, the name of a folder or a merge`]),
    ...state.damaged.map(({ machine, chats }) => {
      const { name, user } = state.hub?.machines.find(({ uuid }) => uuid === machine) ?? { name: machine, user: '?' }
      return `${countText(chats, 'chat')} of ${user}/${name} cannot be read: damaged or too large at the hub`
    }),
    ...(state.error === null ? [] : [`${state.error.code}: ${state.error.detail}`]),
    ...(state.atWork === null ? [] : [workText(state.atWork)]),
  ])
  if (state.hub === null) return head
  const { machines, projects, grants } = state.hub
  return [
    head,
    renderRows(machineColumns, machines, screen),
    renderRows(projectColumns, projects, screen),
    renderRows(grantColumns, grants, screen),
  ].join('\n')
}

const workText = ({ act, done, total }: NonNullable<HubState['atWork']>): string =>
  `${act}: ${numberText(done)} of ${numberText(total)} archived chats`

type HubTables = NonNullable<HubState['hub']>

const sizeColumns: readonly RowColumn<{ readonly chats: number; readonly bytes: number }>[] = [
  { title: 'chats', align: 'right', read: ({ chats }) => chats },
  { title: 'size', align: 'right', read: ({ bytes }) => bytesText(bytes) },
]

const machineColumns: readonly RowColumn<HubTables['machines'][number]>[] = [
  { title: 'machine', read: ({ name }) => name },
  { title: 'user', read: ({ user }) => user },
  ...sizeColumns,
  { title: 'last push', as: 'time', read: ({ pushedAt }) => pushedAt },
]

const projectColumns: readonly RowColumn<HubTables['projects'][number]>[] = [
  { title: 'project', read: ({ name }) => name },
  { title: 'machines', align: 'right', read: ({ machines }) => machines },
  ...sizeColumns,
]

const grantColumns: readonly RowColumn<HubTables['grants'][number]>[] = [
  { title: 'role', read: ({ role }) => role },
  { title: 'may', read: ({ project, push }) => `${push ? 'push' : 'read'} ${project}` },
]

type Administer = ReturnType<typeof administerOf>

/** Adds commands that need no mirror: they talk to the hub only. */
const administerOf = (parent: Command, session: Session) => ({
  /** Adds one with the arguments of two examples. */
  add: (name: string, one: string, other: string): Command =>
    addExamples(parent.command(name), `cursordex hub ${name} ${one}`, `cursordex hub ${name} ${other}`),
  run: async <Result>(command: Command, act: (hub: Hub) => Promise<Result>, lineOf: (result: Result) => string) => {
    const { url } = session.settingsOf(command).hub
    if (url === null) throw hubNotSet()
    const result = await withHub(url, act)
    await session.printAnswer(command, result, (done) => textOf([lineOf(done)]))
  },
})

function addInit({ add, run }: Administer): void {
  const init = add('init', '--json', '--hub-url postgres://admin@db.example/team')
  init.description('make the hub in the database; run it as its owner')
  init.action(() =>
    run(
      init,
      async (hub) => ({ before: await initHub(hub), version: SCHEMA_VERSION }),
      ({ before }) => (before === 0 ? 'The hub is made.' : 'The hub is up to date.'),
    ),
  )
}

function addRights({ add, run }: Administer): void {
  const allow = add('grant', 'ada --read github.com/acme/app --push github.com/acme/app', "eve --read '*'")
  allow.argument('<role>', 'a role of the database; it is made if it is missing')
  allow.description('let a role read projects, or push its own chats of them')
  addRepeatable(allow, '--read <project>', "a project that it may read, as hub status names it; '*' is all")
  addRepeatable(allow, '--push <project>', "a project that its machines may push chats of; '*' is all")
  allow.action((role: string, { read = [], push = [] }: Partial<Pick<GrantOrder, 'read' | 'push'>>) => {
    const flag = [...read, ...push].find((project) => project.startsWith('--'))
    if (flag !== undefined) throw nothingNamed(`${flag} stands where a project is expected.`, "Name one; '*' is all.")
    const rights = [...read.map((project) => `read ${project}`), ...push.map((project) => `push ${project}`)]
    if (rights.length === 0) throw nothingNamed('No right is named.', 'Name one with --read or --push.')
    const lineOf = ({ password }: Awaited<ReturnType<typeof grant>>): string => {
      const made = password === null ? '' : `\nThe role is new. Its password, told only now: ${password}`
      return `${role} may ${rights.join(', ')}.${made}`
    }
    return run(allow, (hub) => grant(hub, { role, read, push }), lineOf)
  })

  const take = add('revoke', 'eve', 'eve --json').argument('<role>', 'a role of the database; it stays')
  take.description('take all rights from a role; its readers lose their pulled chats at the next pull')
  const done = 'has no rights any more. What it pushed stays; to remove it: cursordex hub forget --machine <name>'
  take.action((role: string) =>
    run(
      take,
      (hub) => revoke(hub, role),
      () => `${role} ${done}`,
    ),
  )
}

const nothingNamed = (text: string, hint: string): UserError =>
  new UserError('nothing-named', text, hint, { exitCode: 2 })

function addForget({ add, run }: Administer): void {
  const command = add('forget', '--machine laptop', '--project github.com/acme/app')
  command.description('remove the chats of a machine or a project from the hub')
  command.option('--machine <name>', 'the label or uuid of a machine')
  command.option('--project <project>', 'a project, as hub status names it')
  const done =
    'removed. Pulled copies go at the next pull. A machine that still names the project in hub.push.projects sends it again.'
  command.action(({ machine, project }: ForgetOrder) => {
    if ((machine === undefined) === (project === undefined)) {
      throw nothingNamed('Name a machine or a project.', 'One of --machine and --project.')
    }
    const act = async (hub: Hub) => ({ removed: await forget(hub, { machine, project }) })
    return run(command, act, ({ removed }) => `${countText(removed, 'chat')} ${done}`)
  })
}

function addServe(parent: Command, session: Session): void {
  const command = parent.command('serve').description('serve what this role may read at the hub, without a Cursor')
  addExamples(command, 'cursordex hub serve --host 0.0.0.0', 'cursordex hub serve --data-dir /srv/chats --port 8080')
  command.action(() =>
    session.serve(command, (settings) => {
      const { push, pull } = settings.hub
      return {
        ...settings,
        cursor: { userDirs: [], userDirsExplicit: true, homes: [], homesExplicit: true },
        hub: {
          ...settings.hub,
          push: { ...push, projects: [] },
          pull: { ...pull, projects: pull.projects.length === 0 ? ['*'] : pull.projects },
        },
      }
    }),
  )
}
