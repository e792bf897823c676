import { countText, numberText } from '../../terminal/formats.ts'

/** Chats as they are listed, and what lists leave out. */
export const archivedText = (chats: number, unlisted: number, messages: number): string =>
  [
    countText(chats, 'chat'),
    ...(unlisted > 0 ? [`${numberText(unlisted)} unlisted (subagents, drafts, empty)`] : []),
    countText(messages, 'message'),
  ].join(', ')

export const chatsDone = ({ done, total }: { readonly done: number; readonly total: number }): string =>
  `${numberText(done)} of ${numberText(total)} archived chats`
