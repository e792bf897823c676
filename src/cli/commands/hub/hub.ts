import type { Command } from 'commander'
import { hubAnswer, hubPullAnswer, hubPushAnswer, type HubState } from '../../../api/http/schemas/hub.ts'
import { forget, grant, initHub, revoke, type ForgetOrder } from '../../../hub/administer.ts'
import { withHub, type Hub } from '../../../hub/client.ts'
import { hubNotSet } from '../../../hub/explain-error.ts'
import { SCHEMA_VERSION } from '../../../hub/schema.ts'
import { UserError } from '../../../model/user-error.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import type { Answers } from '../../client/answers.ts'
import { addExamples, addJson, addRepeatable, type JsonOption } from '../../input/options.ts'
import { refuseEmpty } from '../../input/refuse-empty.ts'
import { helpOrRefuse } from '../../input/usage.ts'
import { decodeAnswer, type Place, type Session } from '../../session.ts'
import { bytesText, countText, numberText, timeText } from '../../terminal/formats.ts'
import { renderTable } from '../../terminal/table.ts'
import { chatsDone } from '../archive/archive-answers.ts'
import { withProgress } from '../with-progress.ts'

export function addHubCommand(program: Command, session: Session, place: Place): void {
  const command = program.command('hub')
  addExamples(command, "cursordex hub push --project '*'", "cursordex hub pull --project '*'")
  command.allowExcessArguments().action(() => helpOrRefuse(command))
  const atHub = hubOf(session, place)
  addInit(command, atHub)
  addPush(command, session)
  addPull(command, session)
  addStatus(command, session)
  addGrant(command, atHub)
  addRevoke(command, atHub)
  addForget(command, atHub)
  addServe(command, session)
}

/** Prints an answer as a person or a program wants it. */
const show = (session: Session, command: Command, answer: unknown, text: string): Promise<void> =>
  session.print(command.opts<JsonOption>().json === true ? `${printableJson(answer)}\n` : `${printable(text)}\n`)

interface ShareOptions {
  readonly project?: readonly string[]
  readonly dryRun?: true
}

function addPush(parent: Command, session: Session): void {
  const command = parent
    .command('push')
    .description('send chats of this machine that the hub does not have as they are')
  addRepeatable(command, '--project <project>', "only this project: its name, path or id; '*' is all")
  command.option('--dry-run', 'only count what would be sent')
  addExamples(addJson(command), "cursordex hub push --project '*'", 'cursordex hub push --project shop --dry-run')
  command.action(() => {
    const { dryRun = false } = command.opts<ShareOptions>()
    return share(session, command, 'push', { dryRun }, (answer) => {
      const { pushed, leftOut, notice, ...moved } = decodeAnswer(hubPushAnswer, answer)
      return [
        `${countText(pushed, 'chat')} ${dryRun ? 'would be sent' : 'sent'}${movedText(moved)}`,
        ...leftOut.map(({ id, why }) => `left out: ${id} (${why})`),
        ...(notice === null ? [] : [notice]),
      ].join('\n')
    })
  })
}

function addPull(parent: Command, session: Session): void {
  const command = parent.command('pull').description('fetch what changed at the hub since the last pull')
  addRepeatable(command, '--project <project>', "only this project, as hub status names it; '*' is all")
  addExamples(addJson(command), "cursordex hub pull --project '*'", 'cursordex hub pull --project github.com/acme/app')
  command.action(() =>
    share(session, command, 'pull', {}, (answer) => {
      const { pulled, ...moved } = decodeAnswer(hubPullAnswer, answer)
      return `${countText(pulled, 'chat')} fetched${movedText(moved)}`
    }),
  )
}

interface Moved {
  readonly removed: number
  readonly unchanged: number
  readonly bytes: number
}

const movedText = ({ removed, unchanged, bytes }: Moved): string =>
  `${removed === 0 ? '' : `, ${numberText(removed)} removed`}, ${numberText(unchanged)} unchanged (${bytesText(bytes)})`

/** Pushes or pulls, with the projects that were named and the progress on a terminal. */
async function share(
  session: Session,
  command: Command,
  act: 'push' | 'pull',
  more: object,
  textOf: (answer: unknown) => string,
): Promise<void> {
  const { project } = command.opts<ShareOptions>()
  refuseEmpty({ '--project': project })
  const body = { ...(project === undefined ? {} : { projects: project }), ...more }
  await session.ask(command, async (answers) => {
    const showProgress = async (): Promise<void> => {
      const { atWork } = decodeAnswer(hubAnswer, await readHubState(answers))
      if (atWork !== null && atWork.total > 0) await session.progress.show(chatsDone(atWork))
    }
    const answer = await withProgress(session, answers.post(`/api/hub/${act}`, body), showProgress)
    await show(session, command, answer, textOf(answer))
  })
}

const readHubState = (answers: Answers): Promise<unknown> => answers.get('/api/hub', new URLSearchParams())

function addStatus(parent: Command, session: Session): void {
  const command = parent.command('status').description('show machines, projects and sizes at the hub, and what waits')
  addExamples(addJson(command), 'cursordex hub status', 'cursordex hub status --json')
  command.action(() =>
    session.ask(command, async (answers) => {
      const answer = await readHubState(answers)
      await show(session, command, answer, stateText(decodeAnswer(hubAnswer, answer), session))
    }),
  )
}

function stateText(state: HubState, { screen }: Session): string {
  if (state.url === null) return 'No hub is set. Set hub.url; see docs/hub.md.'
  const when = (at: string | null): string => (at === null ? 'never' : timeText(at, screen))
  const head = [
    `${state.url} as ${state.hub?.role ?? '?'}, this machine is ${state.machine}`,
    `last push ${when(state.lastPushAt)}, last pull ${when(state.lastPullAt)}`,
    ...(state.purgesWaiting === 0 ? [] : [`${countText(state.purgesWaiting, 'purge')} the hub does not know yet`]),
    ...(state.error === null ? [] : [`${state.error.code}: ${state.error.detail}`]),
    ...(state.atWork === null ? [] : [`${state.atWork.act}: ${chatsDone(state.atWork)}`]),
  ]
  if (state.hub === null) return head.join('\n')
  const { machines, projects, grants } = state.hub
  const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
    renderTable(
      titles.map((title) => ({ title })),
      rows,
      screen,
    ).trimEnd()
  return [
    head.join('\n'),
    table(
      ['machine', 'user', 'chats', 'size', 'last push'],
      machines.map((one) => [one.name, one.user, numberText(one.chats), bytesText(one.bytes), when(one.pushedAt)]),
    ),
    table(
      ['project', 'machines', 'chats', 'size'],
      projects.map((one) => [one.name, numberText(one.machines), numberText(one.chats), bytesText(one.bytes)]),
    ),
    table(
      ['role', 'may'],
      grants.map(({ role, project, push }) => [role, push ? 'push' : `read ${project}`]),
    ),
  ].join('\n\n')
}

/** Runs a command that needs no mirror, because it talks to the hub only, and prints its result. */
type AtHub = <Result>(
  command: Command,
  act: (hub: Hub) => Promise<Result>,
  textOf: (result: Result) => string,
) => Promise<void>

const hubOf =
  (session: Session, place: Place): AtHub =>
  async (command, act, textOf) => {
    const { url } = place.settingsOf(command).hub
    if (url === null) throw hubNotSet()
    const result = await withHub(url, act)
    await show(session, command, result, textOf(result))
  }

function addInit(parent: Command, atHub: AtHub): void {
  const command = parent.command('init').description('make the hub in the database, or upgrade it; run it as its owner')
  addExamples(addJson(command), 'cursordex hub init', 'cursordex hub init --hub-url postgres://admin@db.example/team')
  command.action(() =>
    atHub(
      command,
      async (hub) => ({ before: await initHub(hub), version: SCHEMA_VERSION }),
      ({ before, version }) => {
        if (before === 0) return 'The hub is made.'
        return before === version ? 'The hub is up to date.' : `The hub is upgraded to version ${version}.`
      },
    ),
  )
}

function addGrant(parent: Command, atHub: AtHub): void {
  const command = parent.command('grant').argument('<role>', 'a role of the database; it is made if it is missing')
  command.description('let a role read projects, or push its own chats')
  addRepeatable(command, '--read <project>', "a project that it may read, as hub status names it; '*' is all")
  command.option('--push', 'let it push chats of its own machines')
  addExamples(
    addJson(command),
    'cursordex hub grant ada --read github.com/acme/app --push',
    "cursordex hub grant eve --read '*'",
  )
  command.action((role: string) => {
    const { read = [], push = false } = command.opts<{ readonly read?: readonly string[]; readonly push?: boolean }>()
    refuseEmpty({ '<role>': role, '--read': read })
    if (read.length === 0 && !push) {
      throw new UserError('nothing-named', 'No right is named.', 'Name one with --read or --push.', { exitCode: 2 })
    }
    return atHub(
      command,
      (hub) => grant(hub, { role, read, push }),
      (granted) => {
        const rights = [...granted.read.map((project) => `read ${project}`), ...(push ? ['push'] : [])].join(', ')
        const made = `\nThe role is new. Its password, told only now: ${granted.password ?? ''}`
        return `${role} may ${rights}.${granted.password === null ? '' : made}`
      },
    )
  })
}

function addRevoke(parent: Command, atHub: AtHub): void {
  const command = parent.command('revoke').argument('<role>', 'a role of the database; it stays')
  command.description('take all rights from a role; its readers lose their pulled chats at the next pull')
  addExamples(addJson(command), 'cursordex hub revoke eve', 'cursordex hub revoke eve --json')
  command.action((role: string) =>
    atHub(
      command,
      (hub) => revoke(hub, role),
      () => `${role} has no rights any more. What it pushed stays; to remove it: cursordex hub forget --machine <name>`,
    ),
  )
}

function addForget(parent: Command, atHub: AtHub): void {
  const command = parent.command('forget').description('remove the chats of a machine or a project from the hub')
  command.option('--machine <name>', 'the label or uuid of a machine')
  command.option('--project <project>', 'a project, as hub status names it')
  addExamples(
    addJson(command),
    'cursordex hub forget --machine laptop',
    'cursordex hub forget --project github.com/acme/app',
  )
  command.action(() => {
    const { machine, project } = command.opts<ForgetOrder>()
    refuseEmpty({ '--machine': machine, '--project': project })
    if ((machine === undefined) === (project === undefined)) {
      const hint = 'One of --machine and --project.'
      throw new UserError('nothing-named', 'Name a machine or a project.', hint, { exitCode: 2 })
    }
    return atHub(
      command,
      async (hub) => ({ removed: await forget(hub, { machine, project }) }),
      ({ removed }) =>
        `${countText(removed, 'chat')} removed. Pulled copies go at the next pull. A machine that still names the project in hub.push.projects sends it again.`,
    )
  })
}

const ALL = ['*']

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
          pull: { ...pull, projects: pull.projects.length === 0 ? ALL : pull.projects },
        },
      }
    }),
  )
}
