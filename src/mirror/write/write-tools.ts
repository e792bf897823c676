import type { DigestWords } from '../digests/digest-words.ts'
import type { KeyAllocator } from './messages/key-allocator.ts'
import type { Names } from './names.ts'
import type { PendingTerms } from '../fulltext/pending-terms.ts'
import type { RepeatedPrompts } from './chats/prompt-chats.ts'
import type { SourceRanks } from '../sources/source-ranks.ts'

/** What the writing of one transaction shares. */
export interface WriteTools {
  readonly terms: PendingTerms
  readonly keys: KeyAllocator
  readonly ranks: SourceRanks
  readonly prompts: RepeatedPrompts
  readonly names: Names
  readonly words: DigestWords
}
