declare const brand: unique symbol

type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Cursor's own id of a chat. Opaque: it may hold any character, a newline among them. */
export type ChatId = Branded<'ChatId'>

/** Unique within its chat only. Cursor's own, or made from store, chat and ordinal where Cursor gives none. */
export type MessageId = Branded<'MessageId'>

/** Hash of a project's normalised root URI. */
export type ProjectId = Branded<'ProjectId'>

/** Hash of a source's kind and path. */
export type SourceId = Branded<'SourceId'>

export const asChatId = (id: string): ChatId => id as ChatId
export const asMessageId = (id: string): MessageId => id as MessageId
export const asProjectId = (id: string): ProjectId => id as ProjectId
export const asSourceId = (id: string): SourceId => id as SourceId
