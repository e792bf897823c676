import type { Command } from 'commander'
import { hubAnswer, hubPullAnswer, hubPushAnswer, type HubState } from '../../../api/http/schemas/hub.ts'
import { UserError } from '../../../model/user-error.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import type { Answers } from '../../client/answers.ts'
import { addExamples, addJson, addRepeatable, type JsonOption } from '../../input/options.ts'
import { refuseEmpty } from '../../input/refuse-empty.ts'
import { decodeAnswer, type Session } from '../../session.ts'
import { withProgress } from '../with-progress.ts'
import { bytesText, countText, numberText, timeText } from '../../terminal/formats.ts'
import { renderTable } from '../../terminal/table.ts'
import { chatsDone } from '../archive/archive-answers.ts'

interface ShareOptions extends JsonOption {
  readonly project?: readonly string[]
  readonly dryRun?: true
  readonly rename?: string
  readonly takesOver?: string
}

export function addPush(parent: Command, session: Session): void {
  const command = parent
    .command('push')
    .description('send chats of this machine that the hub does not have as they are')
  addRepeatable(command, '--project <project>', "only this project: its name, path or id; '*' is all")
  command.option('--dry-run', 'only count what would be sent')
  command.option('--rename <old=new>', 'give a project another name at the hub; rights do not follow')
  command.option('--takes-over <machine>', 'take over the chats of a lost mirror, by its label or uuid')
  addExamples(addJson(command), "cursordex hub push --project '*'", 'cursordex hub push --project shop --dry-run')
  command.action(async () => {
    const { json, project, dryRun, rename, takesOver } = command.opts<ShareOptions>()
    refuseEmpty({ '--project': project, '--rename': rename, '--takes-over': takesOver })
    const body = {
      ...(project && { projects: project }),
      dryRun: dryRun === true,
      ...(rename !== undefined && { rename: renameOf(rename) }),
      ...(takesOver !== undefined && { takesOver }),
    }
    await session.ask(command, async (answers) => {
      const answer = await withProgress(session, answers.post('/api/hub/push', body), () =>
        showProgress(answers, session),
      )
      const { pushed, removed, unchanged, bytes, leftOut } = decodeAnswer(hubPushAnswer, answer)
      const done = dryRun === true ? 'would be sent' : 'sent'
      const gone = removed === 0 ? '' : `, ${numberText(removed)} removed`
      const lines = [
        `${countText(pushed, 'chat')} ${done}${gone}, ${numberText(unchanged)} unchanged (${bytesText(bytes)})`,
        ...leftOut.map(({ id, why }) => `left out: ${id} (${why})`),
      ]
      await session.print(json === true ? `${printableJson(answer)}\n` : `${printable(lines.join('\n'))}\n`)
    })
  })
}

function renameOf(given: string): { readonly from: string; readonly to: string } {
  const [from = '', to = '', ...more] = given.split('=')
  if (from !== '' && to !== '' && more.length === 0) return { from, to }
  throw new UserError('bad-rename', `--rename ${given} does not name two projects.`, 'Write it like --rename old=new', {
    exitCode: 2,
  })
}

export function addPull(parent: Command, session: Session): void {
  const command = parent.command('pull').description('fetch what changed at the hub since the last pull')
  addRepeatable(command, '--project <project>', "only this project, as hub status names it; '*' is all")
  addExamples(addJson(command), "cursordex hub pull --project '*'", 'cursordex hub pull --project github.com/acme/app')
  command.action(async () => {
    const { json, project } = command.opts<ShareOptions>()
    refuseEmpty({ '--project': project })
    await session.ask(command, async (answers) => {
      const body = project === undefined ? {} : { projects: project }
      const answer = await withProgress(session, answers.post('/api/hub/pull', body), () =>
        showProgress(answers, session),
      )
      const { pulled, removed, unchanged, bytes } = decodeAnswer(hubPullAnswer, answer)
      const gone = removed === 0 ? '' : `, ${numberText(removed)} removed`
      const text = `${countText(pulled, 'chat')} fetched${gone}, ${numberText(unchanged)} unchanged (${bytesText(bytes)})`
      await session.print(json === true ? `${printableJson(answer)}\n` : `${text}\n`)
    })
  })
}

export function addStatus(parent: Command, session: Session): void {
  const command = parent.command('status').description('show machines, projects and sizes at the hub, and what waits')
  addExamples(addJson(command), 'cursordex hub status', 'cursordex hub status --json')
  command.action(async () => {
    await session.ask(command, async (answers) => {
      const answer = await answers.get('/api/hub', new URLSearchParams())
      const { json } = command.opts<JsonOption>()
      if (json === true) return session.print(`${printableJson(answer)}\n`)
      await session.print(renderState(decodeAnswer(hubAnswer, answer), session))
    })
  })
}

function renderState(state: HubState, { screen }: Session): string {
  if (state.url === null) return 'No hub is set. Set hub.url; see docs/hub.md.\n'
  const when = (at: string | null): string => (at === null ? 'never' : timeText(at, screen))
  const lines = [
    `${state.url} as ${state.hub?.role ?? '?'}, this machine is ${state.machine}`,
    `last push ${when(state.lastPushAt)}, last pull ${when(state.lastPullAt)}`,
    ...(state.purgesWaiting === 0 ? [] : [`${countText(state.purgesWaiting, 'purge')} the hub does not know yet`]),
    ...(state.error === null ? [] : [`${state.error.code}: ${state.error.detail}`]),
    ...(state.atWork === null ? [] : [`${state.atWork.act}: ${chatsDone(state.atWork)}`]),
  ]
  const head = lines.map((line) => `${printable(line)}\n`).join('')
  if (state.hub === null) return head
  const { machines, projects, grants } = state.hub
  const tables = [
    renderTable(
      [{ title: 'machine' }, { title: 'user' }, { title: 'chats' }, { title: 'size' }, { title: 'last push' }],
      machines.map(({ name, user, chats, bytes, pushedAt }) => [
        name,
        user,
        numberText(chats),
        bytesText(bytes),
        when(pushedAt),
      ]),
      screen,
    ),
    renderTable(
      [{ title: 'project' }, { title: 'machines' }, { title: 'chats' }, { title: 'size' }],
      projects.map((one) => [one.name, numberText(one.machines), numberText(one.chats), bytesText(one.bytes)]),
      screen,
    ),
    renderTable(
      [{ title: 'role' }, { title: 'may' }],
      grants.map(({ role, project, push }) => [role, push ? 'push' : `read ${project}`]),
      screen,
    ),
  ]
  return [head, ...tables].join('\n')
}

async function showProgress(answers: Answers, session: Session): Promise<void> {
  const { atWork } = decodeAnswer(hubAnswer, await answers.get('/api/hub', new URLSearchParams()))
  if (atWork !== null && atWork.total > 0) await session.progress.show(chatsDone(atWork))
}
