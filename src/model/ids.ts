declare const brand: unique symbol

type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Cursor's own id of a chat. Opaque: it may contain any character, even a newline. */
export type ChatId = Branded<'ChatId'>

/** Unique only within its chat. Cursor's own, or derived from store, chat and ordinal if Cursor has none. */
export type MessageId = Branded<'MessageId'>

/** Hash of a project's normalised root URI. */
export type ProjectId = Branded<'ProjectId'>

/** Hash of a source's kind and path. */
export type SourceId = Branded<'SourceId'>

export const asChatId = (id: string): ChatId => id as ChatId
export const asMessageId = (id: string): MessageId => id as MessageId
export const asProjectId = (id: string): ProjectId => id as ProjectId
export const asSourceId = (id: string): SourceId => id as SourceId
