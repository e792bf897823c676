import * as z from 'zod/mini'
import type { Json } from '../../model/json.ts'
import type { ChatId, MessageId, ProjectId, SourceId } from '../../model/ids.ts'

type Primitive = string | number | boolean | null | undefined

/** JSON of any depth stays as it is. */
type Frozen<Value> = Json extends Value
  ? Value
  : Value extends Primitive
    ? Value
    : { readonly [Key in keyof Value]: Frozen<Value[Key]> }

/** The type of an answer, read-only. */
export type Answer<Schema extends z.core.$ZodType> = Frozen<z.output<Schema>>

/** Adds a sentence for the OpenAPI document. */
export const says = <Schema extends z.ZodMiniType>(schema: Schema, sentence: string): Schema =>
  schema.check(z.describe(sentence))

/** Gives a shape a name of its own in the OpenAPI document. */
export const named = <Schema extends z.ZodMiniType>(id: string, schema: Schema): Schema => {
  z.globalRegistry.add(schema, { id })
  return schema
}

/** A plain value, with its own sentence if it needs one. */
const plain =
  <Schema extends z.ZodMiniType>(make: () => Schema) =>
  (sentence?: string): Schema =>
    sentence === undefined ? make() : says(make(), sentence)

export const text = plain(() => z.string())
export const maybeText = plain(() => z.nullable(text()))
export const texts = plain(() => z.array(text()))
/** ISO 8601 in UTC with milliseconds. */
const time = says(z.string(), 'ISO 8601 in UTC, with milliseconds.')
export const maybeTime = plain(() => z.nullable(time))
export const count = plain(() => z.int())
export const maybeCount = plain(() => z.nullable(count()))
export const amount = plain(() => z.number())
export const maybeAmount = plain(() => z.nullable(amount()))
export const boolean = plain(() => z.boolean())

/** The brand exists only at compile time. It stops a query from mixing up the ids of different nouns. */
const idOf = <Id extends string>() => z.string() as unknown as z.ZodMiniType<Id, string>
export const chatId = idOf<ChatId>()
export const messageId = idOf<MessageId>()
export const projectId = idOf<ProjectId>()
export const sourceId = idOf<SourceId>()

/** One page of a list. */
export const pageOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({
    items: z.array(item),
    total: count('How many items pass the filters, on all pages.'),
    limit: count(),
    offset: count(),
  })
export type Page<Item> = Omit<Answer<ReturnType<typeof pageOf>>, 'items'> & { readonly items: readonly Item[] }

export const problem = named(
  'Problem',
  z.object({
    type: z.literal('about:blank'),
    title: text(),
    status: count(),
    detail: text('What is wrong, for people.'),
    code: text('Distinguishes problems of one status, for programs.'),
    errors: says(
      z.exactOptional(z.array(z.object({ name: text(), reason: text() }))),
      'The wrong parameters or body keys.',
    ),
  }),
)

export type BadParameter = NonNullable<Answer<typeof problem>['errors']>[number]

export const healthAnswer = z.object({
  status: z.literal('ok'),
  version: text(),
  startedAt: says(z.exactOptional(text()), 'As in daemon.json. Missing without a daemon.'),
})

/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
}
