import * as z from 'zod'
import { printable, printableJsonText, printableLine } from '../../../text/printable.ts'
import type { Machine } from '../../answers/machines.ts'
import type { McpSource } from '../source.ts'

/** A tool that only reads. Its answer is text for a model. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: z.ZodObject<Shape>
  answer(args: z.infer<z.ZodObject<Shape>>, source: McpSource): Promise<string>
}

export const defineTool = <Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool => tool

export const projectArgument = z.string().optional().describe('Only this project: its name, path or id.')
export const machineArgument = z
  .string()
  .optional()
  .describe('Only chats of this machine: its name or user/name. local is this machine.')
export const fromArgument = z.string().optional().describe('From this date on, such as 2026-02-01, 2026-02 or 7d.')
export const toArgument = z.string().optional().describe('Before this date.')
export const offsetArgument = z.number().int().min(0).default(0).describe('How many to skip.')

/** The exact next call, as a line of an answer. Arguments that are not given are left out. */
export function nextCall(tool: string, args: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return `Next: ${tool} ${jsonLine(Object.fromEntries(given))}`
}

/** A day and time that a model can read, in UTC. */
export const shortTime = (iso: string | null | undefined): string =>
  iso === null || iso === undefined ? 'no date' : `${iso.slice(0, 10)} ${iso.slice(11, 16)}`

/** The text of a snippet, which the API gives as HTML. Marks become double asterisks. */
export const plainSnippet = (html: string): string =>
  html
    .replaceAll(/<\/?mark>/g, '**')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

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
export const machineMark = (machine: Machine | null): string[] =>
  machine === null ? [] : [`machine ${shortLine(`${machine.user}/${machine.name}`, 80)}`]

/** A text on one line, cut to a length. */
export function shortLine(text: string, length: number): string {
  const line = printableLine(text)
  return line.length <= length ? line : `${line.slice(0, length).trimEnd()}…`
}
