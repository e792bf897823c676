import * as z from 'zod'
import { snippetText } from '../../shared/snippet.ts'
import { printable, printableJsonText, printableLine } from '../../text/printable.ts'
import type { Chat } from '../answers/chats.ts'
import type { Reader } from './reader.ts'

/** A tool that only reads. Its answer is text for a model. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: z.ZodObject<Shape>
  answer(args: z.infer<z.ZodObject<Shape>>, reader: Reader): Promise<string>
}

export const defineTool = <Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool => tool

export const chatArgument = z.string().describe('Id of the chat, or the beginning of it: 4 characters or more.')
export const projectArgument = z.string().optional().describe('Only this project: its name, path or id.')
export const pathArgument = z.string().optional().describe('Only what is about this file: a path or its end.')

/** The arguments of tools that list something. */
export const scope = {
  project: projectArgument,
  machine: z.string().optional().describe('Only chats of this machine: its name or user/name. local is this machine.'),
  from: z.string().optional().describe('From this date on, such as 2026-02-01, 2026-02 or 7d.'),
  to: z.string().optional().describe('Before this date.'),
  offset: z.number().int().min(0).default(0).describe('How many to skip.'),
}

/** An argument as a filter that can be repeated. */
export const only = (value: string | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : [value]

type Scope = Readonly<Partial<Record<'project' | 'machine' | 'from' | 'to', string | undefined>>>

/** The same as the parameters of a route. */
export const scopeOf = ({ project, machine, from, to }: Scope) => ({
  project: only(project),
  machine: only(machine),
  from,
  to,
})

/** The exact next call, as a line of an answer. Arguments that are not given are left out. */
export function nextCall(tool: string, args: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return `Next: ${tool} ${jsonLine(Object.fromEntries(given))}`
}

/** A day and time that a model can read, in UTC. */
export const shortTime = (iso: string | null | undefined): string =>
  iso === null || iso === undefined ? 'no date' : `${iso.slice(0, 10)} ${iso.slice(11, 16)}`

/** What was found stands between double asterisks. */
export const plainSnippet = (html: string): string => snippetText(html, '**')

const jsonLine = (value: unknown): string => printableJsonText(JSON.stringify(value))

/** An id in a line of ours. Cursor may give any text: what could be read as more than an id is written as a JSON string. */
export const idText = (id: string): string => (/^[\w.:-]+$/.test(id) ? id : jsonLine(id))

/** The only kind of line break that is left, and no character that changes how other text is shown. */
export const plainText = (text: string): string => printable(text.replaceAll('\r\n', '\n'))

/**
 * Text from a chat or a repository, each line with a mark. Such a text may look like a line of ours, or like an order.
 * No line without the mark holds text that is not ours.
 */
export const quoted = (text: string): string =>
  plainText(text)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')

/** Several such texts on one line. */
export const quotedLine = (...texts: readonly string[]): string => quoted(texts.join(' | '))

/** The machine of a chat as a part of its line; none for this machine. */
export const machineMark = (machine: Chat['machine'] = null): string[] =>
  machine === null ? [] : [`machine ${shortLine(`${machine.user}/${machine.name}`, 80)}`]

/** A chat in a list: a line of ours, and on a quoted one its title, its project and its machine, if it is another one. */
export function chatEntry(
  line: string,
  { title, project, machine }: Partial<Pick<Chat, 'machine'>> & Pick<Chat, 'title' | 'project'>,
  ...more: readonly string[]
): string {
  return `${line}\n${quotedLine(shortLine(title, 100), shortLine(project?.name ?? 'no project', 60), ...more, ...machineMark(machine))}`
}

/** A text on one line, cut to a length. */
export function shortLine(text: string, length: number): string {
  const line = printableLine(text)
  return line.length <= length ? line : `${line.slice(0, length).trimEnd()}…`
}
