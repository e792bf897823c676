import { Chance } from '../../helpers/cursor.ts'
import { piecesOf, type JudgedChat, type JudgedMessage } from './judged-set.ts'

/** The words that follow each word in some chats. */
type Followers = ReadonlyMap<string, readonly string[]>

const START = ''
const THEMES = 3
/** The share of lines that come from the chat's three themes. The others come from all chats. */
const THEME_SHARE = 0.3
const WORDS_MAX = 60

/**
 * Chats with the words of the judged chats but other content. Each line is a Markov chain over one of three random chats,
 * or over all chats. Deterministic.
 */
export function makeOthers(chats: readonly JudgedChat[], count: number): readonly JudgedChat[] {
  const all = followersOf(chats)
  const own = chats.map((chat) => followersOf([chat]))
  return Array.from({ length: count }, (_, at): JudgedChat => {
    const chance = new Chance(`other ${at}`)
    const themes = Array.from({ length: THEMES }, () => pickOne(own, chance) ?? all)
    const take = (): Followers => (chance.next() < THEME_SHARE ? (pickOne(themes, chance) ?? all) : all)
    const imitate = (text: string): string =>
      text
        .split('\n')
        .map((line) => imitateLine(line, take(), chance))
        .join('\n')
    return {
      id: `other-${at}`,
      title: pickOne(chats, chance)?.title ?? '',
      project: pickOne(chats, chance)?.project ?? '',
      // The structure is copied from another chat, so that lengths and kinds of messages are realistic.
      messages: (pickOne(chats, chance)?.messages ?? []).map(({ role, text, thinking, tool }): JudgedMessage => ({
        role,
        ...(text === undefined ? {} : { text: imitate(text) }),
        ...(thinking === undefined ? {} : { thinking: imitate(thinking) }),
        ...(tool === undefined
          ? {}
          : { tool: { name: tool.name, input: imitate(tool.input), output: imitate(tool.output) } }),
      })),
    }
  })
}

const pickOne = <Item>(items: readonly Item[], chance: Chance): Item | undefined =>
  items[Math.floor(chance.next() * items.length)]

const wordsOf = (line: string): readonly string[] => line.split(/\s+/).filter((word) => word !== '')

function followersOf(chats: readonly JudgedChat[]): Followers {
  const followers = new Map<string, string[]>()
  for (const line of chats.flatMap(({ messages }) => messages.flatMap(piecesOf)).flatMap((text) => text.split('\n'))) {
    let before = START
    for (const word of wordsOf(line)) {
      followers.set(before, followers.get(before) ?? [])
      followers.get(before)?.push(word)
      before = word
    }
  }
  return followers
}

/** Makes a line of as many words. */
function imitateLine(line: string, followers: Followers, chance: Chance): string {
  const length = Math.min(WORDS_MAX, wordsOf(line).length)
  const words: string[] = []
  let before = START
  while (words.length < length) {
    const word = pickOne(followers.get(before) ?? followers.get(START) ?? [], chance)
    if (word === undefined) break
    words.push(word)
    // Sometimes a line continues within another sentence, so that no sentence is copied.
    before = chance.next() < 0.2 ? START : word
  }
  return words.join(' ')
}
