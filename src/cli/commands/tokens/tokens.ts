import { Option, type Command } from 'commander'
import { tokenGroupings } from '../../../api/tokens/request.ts'
import type { Answers } from '../../client/answers.ts'
import { noteUnknown, undatedText } from '../list.ts'
import {
  addDates,
  addExamples,
  addFilters,
  addJson,
  addRepeatable,
  queryOf,
  wholeNumber,
  type Options,
  hasDates,
  inOwnZone,
} from '../../input/options.ts'
import { printable } from '../../../text/printable.ts'
import { decodeAnswer, printAnswer, readAnswer, type Session } from '../../session.ts'
import { readText } from '../../input/read-text.ts'
import { refuseExcess, refuseOptionsAbove } from '../../input/usage.ts'
import { explainTokens, renderImport, renderTokens } from './tokens-text.ts'
import { importAnswer, tokensAnswer } from '../../../api/answers/tokens.ts'

export function addCommand(program: Command, session: Session): void {
  const rows = wholeNumber(1, 10_000)
  const command = program
    .command('tokens')
    .addOption(new Option('--group-by <what>', 'one row for each of these; by default day').choices(tokenGroupings))
  addFilters(command, 'project')
  addRepeatable(command, '--model <model>', 'only this model')
  addFilters(command, 'machine')
  addDates(command)
    .option('-n, --limit <n>', 'how many rows to print, 1 to 10000; by default 1000, as CSV all', rows)
    .option('--notes', 'explain the numbers')
    .addOption(new Option('--csv', 'print the rows as CSV').conflicts('json'))
  addJson(command)
  addExamples(command, 'cursordex tokens --group-by model --from 2026-01', 'cursordex tokens --project shop --csv')
  command.allowExcessArguments().usage('[options] [command]')
  command.action(() => {
    refuseExcess(command, command.args)
    return tokens(command, session)
  })
  addImportCommand(command, session)
}

async function tokens(command: Command, session: Session): Promise<void> {
  const { json: _, csv, notes, ...filters } = command.opts<Options>()
  const query = queryOf({ ...inOwnZone(filters, session.screen, true) })
  // Of days, weeks and months a terminal shows the newest first. The answer has the oldest first.
  const isOfTime = ['day', 'week', 'month'].includes(filters.groupBy ?? 'day')
  await session.ask(command, async (answers) => {
    if (csv === true) {
      const shown = session.screen.width === null ? (text: string) => text : printable
      query.set('as', 'csv')
      for await (const piece of answers.text('/api/tokens', query)) await session.print(shown(piece))
      query.delete('as')
      return filters.limit === undefined ? undefined : noteOmitted(answers, query, session)
    }
    const decoded = await readAnswer(tokensAnswer, await answers.get('/api/tokens', query), command, session)
    if (decoded === null) return
    const isOnTerminal = session.screen.width !== null
    const rows = isOnTerminal && isOfTime ? decoded.rows.toReversed() : decoded.rows
    await session.print(renderTokens({ ...decoded, rows }, session.screen))
    if (decoded.omitted !== null) await session.note(`${decoded.omitted.note}\n`)
    if (notes === true || !isOnTerminal) await session.note(explainTokens(decoded, session.screen))
    else {
      const { messages } = decoded.undated
      if (messages > 0 && hasDates(filters)) await session.note(undatedText(messages))
      await session.note('For what the numbers mean, add --notes.\n')
    }
    if (decoded.rows.length === 0) await noteUnknown(filters, answers, session)
  })
}

/** A CSV file cannot say that rows are missing. */
async function noteOmitted(answers: Answers, query: URLSearchParams, session: Session): Promise<void> {
  const { omitted } = decodeAnswer(tokensAnswer, await answers.get('/api/tokens', query))
  if (omitted !== null) await session.note(`${omitted.note}\n`)
}

function addImportCommand(tokensCommand: Command, session: Session): void {
  const command = tokensCommand
    .command('import')
    .description('import a usage file that you downloaded from Cursor’s dashboard')
    .argument('<csv>', 'the file')
    .option('--tz <zone>', 'time zone of times without one, such as Europe/Berlin')
  addJson(command)
  addExamples(command, 'cursordex tokens import usage-events.csv', 'cursordex tokens import usage-events.csv --json')
  command.action((file: string) => {
    refuseOptionsAbove(command)
    return importFile(file, command, session)
  })
}

/** The daemon takes fewer bytes, and says how many. */
const FILE_BYTES_MAX = 64 * 1024 * 1024

async function importFile(file: string, command: Command, session: Session): Promise<void> {
  // The parent command may have taken a flag of the same name.
  const { tz } = command.optsWithGlobals<Options>()
  const text = readText(file, FILE_BYTES_MAX, 'Name the file that you downloaded from Cursor’s dashboard.')
  const query = queryOf({ ...inOwnZone({ tz }, session.screen, true) })
  const path = `/api/tokens/import?${query.toString()}`
  await session.ask(command, async (answers) => {
    const answer = await answers.post(path, text, 'text/csv')
    await printAnswer(importAnswer, answer, (done) => renderImport(done, session.screen), command, session)
  })
}
