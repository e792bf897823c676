import type { CorpusChat } from '../corpus/make-corpus.ts'
import type { Question } from '../queries/index.ts'
import { looked, lookFor, type Looked } from './sought.ts'

interface Suspect extends Looked {
  readonly id: string
  readonly sceneId: string | null
}

/**
 * Messages and titles that contain what a question looks for but were not made for it, one line each. With them, the known
 * answers would be incomplete.
 */
export function strangersIn(chats: readonly CorpusChat[], questions: readonly Question[]): readonly string[] {
  const messages = chats.flatMap((chat) =>
    chat.messages.map(({ id, sceneId, message }): Suspect => ({ id, sceneId, ...looked(JSON.stringify(message)) })),
  )
  const titles = chats.map(({ id, title, messages: own }): Suspect => {
    const sceneId = own.find((each) => id === `own-${each.id}`)?.sceneId ?? null
    return { id: `title of ${id}`, sceneId, ...looked(title) }
  })
  const suspects = [...messages, ...titles]
  return questions.flatMap(({ ask, from }) => {
    if (ask.isCommon === true) return []
    const isThere = lookFor(ask)
    const strangers = suspects.filter((each) => each.sceneId !== from.id && isThere(each))
    return strangers.map(({ id }) => `${ask.q}: ${id}`)
  })
}

/** Names in questions without a document. */
export function unknownNames(questions: readonly Question[]): readonly string[] {
  return questions.flatMap(({ ask, from }) =>
    `${ask.want} ${ask.best ?? ''} ${ask.never ?? ''}`
      .split(' ')
      .filter((name) => name !== '' && !(name in from.scene.docs))
      .map((name) => `${ask.q}: ${name}`),
  )
}
