import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { matching } from './said.ts'
import type { PurgeScope } from './scope.ts'
import type { RemovedText } from './tombstones.ts'

/**
 * In which chat a text of this chat is to stay out; null: in any. What names a file or a tool is named in others, too:
 * there it comes in; and so does all where only some chats were asked for.
 */
export function homeOf(chatId: ChatId, isWords: boolean, { chatIds, projectUris }: PurgeScope): ChatId | null {
  return isWords && chatIds === null && projectUris === null ? null : chatId
}

/**
 * By which texts copies of a message are known that goes for what it holds.
 * @param needles as `needlesOf` gives them
 */
export function removedTexts(
  parts: readonly Part[],
  chatId: ChatId,
  needles: readonly string[],
  scope: PurgeScope,
): RemovedText[] {
  return [...matching(parts, needles)].map(({ text, isWords }) => ({ text, chatId: homeOf(chatId, isWords, scope) }))
}
