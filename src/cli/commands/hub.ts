import type { Command } from 'commander'
import type { HubState } from '../../api/answers/hub.ts'
import { forget, grant, initHub, revoke, type ForgetOrder, type GrantOrder } from '../../hub/administer.ts'
import { hubNotSet } from '../../hub/explain-error.ts'
import { withHub, type Hub } from '../../hub/client.ts'
import { SCHEMA_VERSION } from '../../hub/schema.ts'
import { UserError } from '../../model/user-error.ts'
import { printable } from '../../text/printable.ts'
import type { Answers } from '../client/client.ts'
import { addExamples, addRepeatable, helpOrRefuse } from '../input/options.ts'
import type { Session } from '../session.ts'
import { bytesText, countText, numberText, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import { chatsDone, withProgress } from './with-progress.ts'

export function addCommand(program: Command, session: Session): void {
  const parent = program.command('hub').description('share chats with other machines through a PostgreSQL')
  addExamples(parent, "cursordex hub push --project '*'", "cursordex hub pull --project '*'")
  parent.allowExcessArguments().action(() => helpOrRefuse(parent))
  const add: Add = (name, one, other) =>
    addExamples(parent.command(name), `cursordex hub ${name} ${one}`, `cursordex hub ${name} ${other}`)
  const administer = administerOf(session)
  addInit(add, administer)
  addPush(parent, session)
  addPull(parent, session)
  addStatus(parent, session)
  addGrant(add, administer)
  addRevoke(add, administer)
  addForget(add, administer)
  addServe(parent, session)
}

/** Adds a subcommand with the arguments of two examples. */
type Add = (name: string, one: string, other: string) => Command

function addPush(parent: Command, session: Session): void {
  const command = parent.command('push')
  command.description('send chats of this machine that the hub does not have as they are')
  addRepeatable(command, '--project <project>', "only this project: its name, path or id; '*' is all")
  command.option('--dry-run', 'only count what would be sent')
  const examples = ["cursordex hub push --project '*'", 'cursordex hub push --project shop --dry-run'] as const
  session.asks(command, examples, async (answers) => {
    const { project = null, dryRun = false } = command.opts<{ readonly project?: string[]; readonly dryRun?: true }>()
    const request = answers.post('/api/hub/push', { body: { projects: project, dryRun } })
    const done = await whenShared(session, answers, request)
    await session.printAnswer(command, done, ({ pushed, leftOut, notice, ...moved }) => [
      `${countText(pushed, 'chat')} ${dryRun ? 'would be sent' : 'sent'}${movedText(moved)}`,
      ...leftOut.map(({ id, why }) => `left out: ${id} (${why})`),
      ...(notice === null ? [] : [notice]),
    ])
  })
}

function addPull(parent: Command, session: Session): void {
  const command = parent.command('pull').description('fetch what changed at the hub since the last pull')
  addRepeatable(command, '--project <project>', "only this project, as hub status names it; '*' is all")
  const another = 'cursordex hub pull --project github.com/acme/app'
  session.asks(command, ["cursordex hub pull --project '*'", another], async (answers) => {
    const { project = null } = command.opts<{ readonly project?: string[] }>()
    const done = await whenShared(session, answers, answers.post('/api/hub/pull', { body: { projects: project } }))
    await session.printAnswer(command, done, ({ pulled, ...moved }) => [
      `${countText(pulled, 'chat')} fetched${movedText(moved)}`,
    ])
  })
}

const movedText = (moved: { readonly removed: number; readonly unchanged: number; readonly bytes: number }): string => {
  const removed = moved.removed === 0 ? '' : `, ${numberText(moved.removed)} removed`
  return `${removed}, ${numberText(moved.unchanged)} unchanged (${bytesText(moved.bytes)})`
}

/** Waits for a push or pull, and shows its progress on a terminal. */
const whenShared = <Answer>(session: Session, answers: Answers, act: Promise<Answer>): Promise<Answer> =>
  withProgress(session, act, async () => (await answers.get('/api/hub')).atWork)

function addStatus(parent: Command, session: Session): void {
  const command = parent.command('status').description('show machines, projects and sizes at the hub, and what waits')
  const examples = [
    'cursordex hub status --json',
    'cursordex hub status --hub-url postgres://me@db.example/chats',
  ] as const
  session.asks(command, examples, async (answers) =>
    session.printAnswer(command, await answers.get('/api/hub'), (state) => stateText(state, session.screen)),
  )
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
    ...(state.atWork === null ? [] : [`${state.atWork.act}: ${chatsDone(state.atWork)}`]),
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

/** Runs commands that need no mirror: they talk to the hub only. */
const administerOf =
  (session: Session) =>
  async <Result>(command: Command, act: (hub: Hub) => Promise<Result>, lineOf: (result: Result) => string) => {
    const { url } = session.settingsOf(command).hub
    if (url === null) throw hubNotSet()
    const result = await withHub(url, act)
    await session.printAnswer(command, result, (done) => textOf([lineOf(done)]))
  }

function addInit(add: Add, administer: Administer): void {
  const command = add('init', '--json', '--hub-url postgres://admin@db.example/team')
  command.description('make the hub in the database; run it as its owner')
  command.action(() =>
    administer(
      command,
      async (hub) => ({ before: await initHub(hub), version: SCHEMA_VERSION }),
      ({ before }) => (before === 0 ? 'The hub is made.' : 'The hub is up to date.'),
    ),
  )
}

function addGrant(add: Add, administer: Administer): void {
  const command = add('grant', 'ada --read github.com/acme/app --push github.com/acme/app', "eve --read '*'")
  command.argument('<role>', 'a role of the database; it is made if it is missing')
  command.description('let a role read projects, or push its own chats of them')
  addRepeatable(command, '--read <project>', "a project that it may read, as hub status names it; '*' is all")
  addRepeatable(command, '--push <project>', "a project that its machines may push chats of; '*' is all")
  command.action((role: string) => {
    const { read = [], push = [] } = command.opts<Partial<Pick<GrantOrder, 'read' | 'push'>>>()
    const flag = [...read, ...push].find((project) => project.startsWith('--'))
    if (flag !== undefined) throw nothingNamed(`${flag} stands where a project is expected.`, "Name one; '*' is all.")
    const rights = [...read.map((project) => `read ${project}`), ...push.map((project) => `push ${project}`)]
    if (rights.length === 0) throw nothingNamed('No right is named.', 'Name one with --read or --push.')
    return administer(
      command,
      (hub) => grant(hub, { role, read, push }),
      ({ password }) => {
        const made = password === null ? '' : `\nThe role is new. Its password, told only now: ${password}`
        return `${role} may ${rights.join(', ')}.${made}`
      },
    )
  })
}

const nothingNamed = (text: string, hint: string): UserError =>
  new UserError('nothing-named', text, hint, { exitCode: 2 })

function addRevoke(add: Add, administer: Administer): void {
  const command = add('revoke', 'eve', 'eve --json').argument('<role>', 'a role of the database; it stays')
  command.description('take all rights from a role; its readers lose their pulled chats at the next pull')
  const done = 'has no rights any more. What it pushed stays; to remove it: cursordex hub forget --machine <name>'
  command.action((role: string) =>
    administer(
      command,
      (hub) => revoke(hub, role),
      () => `${role} ${done}`,
    ),
  )
}

function addForget(add: Add, administer: Administer): void {
  const command = add('forget', '--machine laptop', '--project github.com/acme/app')
  command.description('remove the chats of a machine or a project from the hub')
  command.option('--machine <name>', 'the label or uuid of a machine')
  command.option('--project <project>', 'a project, as hub status names it')
  command.action(() => {
    const { machine, project } = command.opts<ForgetOrder>()
    if ((machine === undefined) === (project === undefined)) {
      throw nothingNamed('Name a machine or a project.', 'One of --machine and --project.')
    }
    return administer(
      command,
      async (hub) => ({ removed: await forget(hub, { machine, project }) }),
      ({ removed }) =>
        `${countText(removed, 'chat')} removed. Pulled copies go at the next pull. A machine that still names the project in hub.push.projects sends it again.`,
    )
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
