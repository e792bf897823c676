import { Chance } from '../../../src/sample/chance.ts'
import { piecesOf, type JudgedChat, type JudgedMessage } from './judged-set.ts'

/** What two words in a row are followed by, in some chats. */
type Followers = ReadonlyMap<string, readonly string[]>

const START = ''
const THEMES = 3
/** So much of a chat speaks of its themes; the rest is of all chats. */
const THEME_SHARE = 0.3
const WORDS_MAX = 60

/**
 * Chats that share the judged ones' words and none of their stories: each sentence follows, word by word, what is said in
 * three chats taken by chance, or in all of them. The same every time.
 */
export function makeOthers(chats: readonly JudgedChat[], count: number): readonly JudgedChat[] {
  const all = followersOf(chats)
  const own = chats.map((chat) => followersOf([chat]))
  return Array.from({ length: count }, (_, at): JudgedChat => {
    const chance = new Chance(`other ${at}`)
    const themes = Array.from({ length: THEMES }, () => pickOne(own, chance) ?? all)
    const take = (): Followers => (chance.next() < THEME_SHARE ? (pickOne(themes, chance) ?? all) : all)
    const speak = (like: string): string => sayLike(like, take, chance)
    return {
      id: `other-${at}`,
      title: pickOne(chats, chance)?.title ?? '',
      project: pickOne(chats, chance)?.project ?? '',
      // The build of a chat is another's, so that lengths and kinds of messages are as in life.
      messages: (pickOne(chats, chance)?.messages ?? []).map(({ role, text, thinking, tool }): JudgedMessage => ({
        role,
        ...(text === undefined ? {} : { text: speak(text) }),
        ...(thinking === undefined ? {} : { thinking: speak(thinking) }),
        ...(tool === undefined
          ? {}
          : { tool: { name: tool.name, input: speak(tool.input), output: speak(tool.output) } }),
      })),
    }
  })
}

const pickOne = <Item>(items: readonly Item[], chance: Chance): Item | undefined =>
  items[Math.floor(chance.next() * items.length)]

const wordsOf = (line: string): readonly string[] => line.split(/\s+/).filter((word) => word !== '')

function followersOf(chats: readonly JudgedChat[]): Followers {
  const followers = new Map<string, string[]>()
  const add = (before: string, word: string): void => {
    const known = followers.get(before)
    if (known === undefined) followers.set(before, [word])
    else known.push(word)
  }
  for (const line of chats.flatMap(({ messages }) => messages.flatMap(piecesOf)).flatMap((text) => text.split('\n'))) {
    let before = START
    for (const word of wordsOf(line)) {
      add(before, word)
      before = word
    }
  }
  return followers
}

/** As many lines of as many words. Each line keeps to what was taken for it. */
function sayLike(like: string, take: () => Followers, chance: Chance): string {
  const lines = like.split('\n').map((line) => {
    const length = Math.min(WORDS_MAX, wordsOf(line).length)
    const followers = take()
    const said: string[] = []
    let before = START
    while (said.length < length) {
      const word = pickOne(followers.get(before) ?? followers.get(START) ?? [], chance)
      if (word === undefined) break
      said.push(word)
      // Now and then a line goes on in the midst of another, so that no sentence is said as it was.
      before = word
      if (chance.next() < 0.2) before = START
    }
    return said.join(' ')
  })
  return lines.join('\n')
}
