/**
 * The filters of searches, lists and reports, said once: the command line's help, the OpenAPI document and the tools for
 * agents read them. The key is the parameter and the option; `value` is what the help calls its value.
 */
export const filters = {
  project: { value: 'project', help: 'only this project: its name, path or id' },
  role: { value: 'role', help: 'only messages of this role: user or assistant' },
  in: {
    value: 'part',
    help: 'only in this kind of part: text, thinking, code, tool, attachment, plan, summary or title',
  },
  tool: { value: 'tool', help: 'only messages that call this tool' },
  model: { value: 'model', help: 'only chats or messages of this model' },
  mode: { value: 'mode', help: 'only chats of this mode, such as agent' },
  branch: { value: 'branch', help: 'only chats that began on this git branch' },
  worktree: { value: 'worktree', help: 'only chats that ran in this working tree of git: its name' },
  path: { value: 'path', help: 'only messages with a tool call, code or attachment of this file or folder' },
  machine: { value: 'machine', help: 'only chats of this machine: its name or user/name; local is this one' },
  chat: { value: 'chatId', help: 'only this chat: its id' },
  from: {
    value: 'date',
    help: 'only from this date or time on: 2026-03-01, 2026-03-01T09:30, 2026-02, yesterday or 7d',
  },
  to: { value: 'date', help: 'only before this date or time' },
} as const

export type FilterName = keyof typeof filters
export const filterNames = Object.keys(filters) as readonly FilterName[]

/** The filters that are fields of the search language too. A date has other fields there. */
export type FieldFilter = Exclude<FilterName, 'from' | 'to'>
export const fieldFilters = filterNames.filter((name): name is FieldFilter => name !== 'from' && name !== 'to')

/** Each of them as a sentence. Those that name something may be repeated. */
export const filterSentences: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(filters).map(([name, { value, help }]) => {
    const sentence = `${help.charAt(0).toUpperCase()}${help.slice(1)}.`
    return [name, value === 'date' ? sentence : `${sentence} Repeated, one match is enough.`]
  }),
)
