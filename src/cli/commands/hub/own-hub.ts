import type { Command } from 'commander'
import { withHub, type Hub } from '../../../hub/client.ts'
import { forget, grant, revoke, type ForgetOrder } from '../../../hub/grants.ts'
import { initHub } from '../../../hub/init.ts'
import { SCHEMA_VERSION } from '../../../hub/schema.ts'
import { UserError } from '../../../model/user-error.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import { addExamples, addJson, addRepeatable, type JsonOption } from '../../input/options.ts'
import { refuseEmpty } from '../../input/refuse-empty.ts'
import type { Place, Session } from '../../session.ts'
import { countText } from '../../terminal/formats.ts'

/** These commands need no mirror: they talk to the hub only. */
async function atHub<Result>(
  command: Command,
  session: Session,
  { settingsOf }: Place,
  act: (hub: Hub) => Promise<Result>,
  textOf: (result: Result) => string,
): Promise<void> {
  const { url } = settingsOf(command).hub
  if (url === null) {
    throw new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
      exitCode: 2,
    })
  }
  const result = await withHub(url, act)
  const { json } = command.opts<JsonOption>()
  await session.print(json === true ? `${printableJson(result)}\n` : `${printable(textOf(result))}\n`)
}

export function addInit(parent: Command, session: Session, place: Place): void {
  const command = parent.command('init').description('make the hub in the database, or upgrade it; run it as its owner')
  addExamples(addJson(command), 'cursordex hub init', 'cursordex hub init --hub-url postgres://admin@db.example/team')
  command.action(() =>
    atHub(
      command,
      session,
      place,
      async (hub) => ({ before: await initHub(hub), version: SCHEMA_VERSION }),
      ({ before, version }) => {
        if (before === 0) return 'The hub is made.'
        return before === version ? 'The hub is up to date.' : `The hub is upgraded to version ${version}.`
      },
    ),
  )
}

export function addGrant(parent: Command, session: Session, place: Place): void {
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
      session,
      place,
      (hub) => grant(hub, { role, read, push }),
      (granted) =>
        [
          `${granted.role} may ${[...granted.read.map((project) => `read ${project}`), ...(push ? ['push'] : [])].join(', ')}.`,
          ...(granted.password === null ? [] : [`The role is new. Its password, told only now: ${granted.password}`]),
        ].join('\n'),
    )
  })
}

export function addRevoke(parent: Command, session: Session, place: Place): void {
  const command = parent.command('revoke').argument('<role>', 'a role of the database; it stays')
  command.description('take all rights from a role; its readers lose their pulled chats at the next pull')
  addExamples(addJson(command), 'cursordex hub revoke eve', 'cursordex hub revoke eve --json')
  command.action((role: string) =>
    atHub(
      command,
      session,
      place,
      (hub) => revoke(hub, role),
      () => `${role} has no rights any more. What it pushed stays; to remove it: cursordex hub forget --machine <name>`,
    ),
  )
}

export function addForget(parent: Command, session: Session, place: Place): void {
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
      throw new UserError('nothing-named', 'Name a machine or a project.', 'One of --machine and --project.', {
        exitCode: 2,
      })
    }
    return atHub(
      command,
      session,
      place,
      async (hub) => ({ removed: await forget(hub, { machine, project }) }),
      ({ removed }) =>
        `${countText(removed, 'chat')} removed. Pulled copies go at the next pull. A machine that still names the project in hub.push.projects sends it again.`,
    )
  })
}
