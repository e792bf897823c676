import type { Postings } from './signals.ts'

/** A part of the query with its matches: a word in all its forms, a whole identifier or a phrase. */
export interface Signal {
  /** 1 for a word; less for what says less about the topic. */
  readonly weight: number
  readonly postings: Postings
  /** Chats with a match in the title. */
  readonly titles: readonly number[]
  /** Whether a chat without it is left out. */
  readonly isRequired: boolean
}

export interface WeighedChat {
  readonly chat: number
  /** Higher is better. */
  readonly score: number
  /** For each signal, in order, whether the chat has it. */
  readonly holds: readonly boolean[]
  /** The message with most of the words; null if only the title has any. */
  readonly bestKey: number | null
}

/** What BM25 needs to know of a collection. A document is a chat. */
export interface Collection {
  readonly chats: number
  /** How many messages each of these chats has. */
  readonly lengthsOf: (chats: readonly number[]) => ReadonlyMap<number, number>
  /** The share of chats that were active at the time of a message's key or later. */
  readonly shareFrom: (key: number) => number
}

// BM25's two constants, and what a title counts in messages: chosen on the tuning half of test/search/judged. K1 is large,
// since it is about whole chats: a word that returns in many messages is what the chat is about.
const K1 = 50
const B = 0.75
const TITLE_AMOUNT = 2
/** How many of the best chats are weighed again by their length. */
const WEIGHED_TWICE_MAX = 500

interface Draft {
  readonly chat: number
  /** For each signal, how much of it the chat has. */
  readonly amounts: number[]
  best: { readonly key: number; readonly mass: number } | null
}

/**
 * Ranks chats by BM25 over their messages and titles, best first. What a chat holds of the query counts once more: many
 * messages with one of the words do not outweigh another word.
 */
export function weighChats(signals: readonly Signal[], collection: Collection): readonly WeighedChat[] {
  const weights = signals.map((signal) => signal.weight * rarity(signal, collection))
  const drafts = [...gatherDrafts(signals, weights).values()].filter(({ amounts }) =>
    signals.every(({ isRequired }, at) => !isRequired || (amounts[at] ?? 0) > 0),
  )
  const massOf = (isHeld: (at: number) => boolean): number =>
    weights.reduce((sum, weight, at) => sum + (isHeld(at) ? weight : 0), 0)
  const askedMass = massOf(() => true)
  const score = ({ amounts }: Draft, length: number): number => {
    const norm = K1 * (1 - B + B * length)
    const bm25 = amounts.reduce(
      (sum, amount, at) => sum + ((weights[at] ?? 0) * amount * (K1 + 1)) / (amount + norm),
      0,
    )
    return bm25 * Math.sqrt(massOf((at) => (amounts[at] ?? 0) > 0) / askedMass)
  }
  const promising = drafts
    .map((draft) => ({ draft, score: score(draft, 1) }))
    .toSorted((one, other) => other.score - one.score || other.draft.chat - one.draft.chat)
    .slice(0, WEIGHED_TWICE_MAX)
    .map(({ draft }) => draft)
  const lengths = collection.lengthsOf(promising.map(({ chat }) => chat))
  const mean = [...lengths.values()].reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.size)
  return promising
    .map((draft) => ({
      chat: draft.chat,
      score: score(draft, (lengths.get(draft.chat) ?? mean) / Math.max(1, mean)),
      holds: draft.amounts.map((amount) => amount > 0),
      bestKey: draft.best?.key ?? null,
    }))
    .toSorted((one, other) => other.score - one.score || other.chat - one.chat)
}

function gatherDrafts(signals: readonly Signal[], weights: readonly number[]): ReadonlyMap<number, Draft> {
  const drafts = new Map<number, Draft>()
  const masses = new Map<number, number>()
  const draftOf = (chat: number): Draft => {
    const known = drafts.get(chat)
    if (known !== undefined) return known
    const made: Draft = { chat, amounts: signals.map(() => 0), best: null }
    drafts.set(chat, made)
    return made
  }
  for (const [at, { postings, titles }] of signals.entries()) {
    for (const { key, chat, amount } of postings.messages) {
      const draft = draftOf(chat)
      draft.amounts[at] = (draft.amounts[at] ?? 0) + amount
      const mass = (masses.get(key) ?? 0) + (weights[at] ?? 0)
      masses.set(key, mass)
      // Of messages with the same words, the newest is the best.
      const { best } = draft
      if (best === null || mass > best.mass || (mass === best.mass && key > best.key)) draft.best = { key, mass }
    }
    for (const chat of titles) {
      const { amounts } = draftOf(chat)
      amounts[at] = (amounts[at] ?? 0) + TITLE_AMOUNT
    }
  }
  return drafts
}

/**
 * The inverse document frequency of BM25, with chats as documents. If only the newest messages were read, the older chats
 * are assumed to have the word as often as the newer ones.
 */
function rarity({ postings: { messages, isWhole }, titles }: Signal, { chats, shareFrom }: Collection): number {
  const found = new Set(titles)
  for (const { chat } of messages) found.add(chat)
  const last = messages.at(-1)
  const share = isWhole || last === undefined ? 1 : Math.max(1 / Math.max(1, chats), shareFrom(last.key))
  const holders = Math.min(chats, found.size / share)
  return Math.log1p((chats - holders + 0.5) / (holders + 0.5))
}
