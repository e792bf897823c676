import type { DigestWords } from './digests/digest-words.ts'
import type { KeyAllocator } from './key-allocator.ts'
import type { Names } from './names.ts'
import type { PendingTerms } from './pending-terms.ts'
import type { RepeatedPrompts } from './prompt-chats.ts'
import type { SourceRanks } from './source-ranks.ts'

/** What the writing of one transaction shares. */
export interface WriteTools {
  readonly terms: PendingTerms
  readonly keys: KeyAllocator
  readonly ranks: SourceRanks
  readonly prompts: RepeatedPrompts
  readonly names: Names
  readonly words: DigestWords
}
